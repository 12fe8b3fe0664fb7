/**
 * What a session changes about its own snapshot of an agent: overrides when it is created, tools and MCP servers while it
 * lives. The agent itself is not touched, and id and version still name it.
 *
 * - Absent: inherited. null or []: cleared. Anything else replaces in full.
 * - A `model` override takes that model's default effort: neither the agent's effort nor one in the override counts. An
 *   absent `inference_geo` is cleared with the object it stood in.
 * - The rules between tools, servers and skills hold for the result.
 */
import { agentProblems } from './agent-checks.ts';
import { jsonEqual } from './json-equal.ts';
import { refusalOf } from './problem.ts';
import { emptyToNull, resolveModel, resolveSkills, type DefaultEffort } from './resolve-agent.ts';
import { resolveTools } from './resolve-tools.ts';
import type { SessionAgent } from './session-agent.ts';
import type { AgentOverrides, SessionAgentUpdate } from './sessions.ts';
import type { Updated } from './updated.ts';

export function overrideAgent(
  agent: SessionAgent,
  overrides: AgentOverrides,
  defaultEffort: DefaultEffort,
): Updated<SessionAgent> {
  const { model, system, tools, mcp_servers: servers, skills } = overrides;
  return checked(agent, {
    ...agent,
    model: model === undefined ? agent.model : resolveModel(withoutEffort(model), defaultEffort),
    system: system === undefined ? agent.system : emptyToNull(system),
    tools: tools === undefined ? agent.tools : resolveTools(tools ?? []),
    mcp_servers: servers === undefined ? agent.mcp_servers : (servers ?? []),
    skills: skills === undefined ? agent.skills : resolveSkills(skills ?? []),
  });
}

export function updateSessionAgent(agent: SessionAgent, update: SessionAgentUpdate): Updated<SessionAgent> {
  const { tools, mcp_servers: servers } = update;
  return checked(agent, {
    ...agent,
    tools: tools === undefined ? agent.tools : resolveTools(tools ?? []),
    mcp_servers: servers === undefined ? agent.mcp_servers : (servers ?? []),
  });
}

function withoutEffort(model: NonNullable<AgentOverrides['model']>): NonNullable<AgentOverrides['model']> {
  return typeof model === 'string' ? model : { ...model, effort: undefined };
}

function checked(before: SessionAgent, value: SessionAgent): Updated<SessionAgent> {
  const problems = agentProblems(value).map((problem) => ({ ...problem, path: ['agent', ...problem.path] }));
  const refusal = refusalOf(problems);
  return refusal ? { ok: false, refusal } : { ok: true, value, changed: !jsonEqual(before, value) };
}
