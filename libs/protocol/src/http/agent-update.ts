/**
 * An update of an agent, merged onto what is stored.
 *
 * - An omitted field stays. `description` and `system` are cleared by null or "", the lists by null or [].
 * - Lists and `multiagent` replace as a whole; `metadata` is patched key by key; a null `execution_identity` restores the
 *   default.
 * - `model` replaces as a whole, except that the same id without an effort keeps the stored effort. Another id without an
 *   effort takes that model's default, and an omitted `inference_geo` is cleared.
 * - The rules between fields hold for the result.
 *
 * Whether the agent is archived and whether the given `version` is the current one is for the caller to decide.
 */
import { agentProblems } from './agent-checks.ts';
import type { AgentConfig, UpdateAgentBody } from './agents.ts';
import { jsonEqual } from './json-equal.ts';
import { patchMetadata, patchedMetadataProblems } from './metadata.ts';
import type { ModelConfig, ModelParams } from './model-config.ts';
import { refusalOf, type Problem } from './problem.ts';
import {
  defaultExecutionIdentity,
  emptyToNull,
  resolveModel,
  resolveSkills,
  type DefaultEffort,
} from './resolve-agent.ts';
import { resolveTools } from './resolve-tools.ts';
import type { Updated } from './updated.ts';

export function updateAgent(
  stored: AgentConfig,
  body: UpdateAgentBody,
  defaultEffort: DefaultEffort,
): Updated<AgentConfig> {
  // not-yet.ts refuses it before; a roster that vanished in silence would be worse than a failure.
  if (body.multiagent != null) throw new Error('multiagent cannot be resolved yet');
  const value: AgentConfig = {
    name: body.name ?? stored.name,
    description: body.description === undefined ? stored.description : emptyToNull(body.description),
    model: body.model === undefined ? stored.model : replaceModel(stored.model, body.model, defaultEffort),
    system: body.system === undefined ? stored.system : emptyToNull(body.system),
    tools: body.tools === undefined ? stored.tools : resolveTools(body.tools ?? []),
    mcp_servers: body.mcp_servers === undefined ? stored.mcp_servers : (body.mcp_servers ?? []),
    skills: body.skills === undefined ? stored.skills : resolveSkills(body.skills ?? []),
    multiagent: body.multiagent === undefined ? stored.multiagent : null,
    execution_identity:
      body.execution_identity === undefined
        ? stored.execution_identity
        : (body.execution_identity ?? defaultExecutionIdentity),
    metadata: patchMetadata(stored.metadata, body.metadata),
  };
  const refusal = refusalOf([...crossProblems(body, value), ...patchedMetadataProblems(value.metadata)]);
  if (refusal) return { ok: false, refusal };
  return { ok: true, value, changed: !jsonEqual(stored, value) };
}

function replaceModel(stored: ModelConfig, given: ModelParams, defaultEffort: DefaultEffort): ModelConfig {
  const id = typeof given === 'string' ? given : given.id;
  const kept = stored.id === id ? stored.effort?.type : undefined;
  return resolveModel(given, kept === undefined ? defaultEffort : () => kept);
}

/** Only where one of the parts changed: an agent stored under older rules can still be renamed. */
function crossProblems(body: UpdateAgentBody, value: AgentConfig): Problem[] {
  const isTouched = body.tools !== undefined || body.mcp_servers !== undefined || body.skills !== undefined;
  return isTouched ? agentProblems(value) : [];
}
