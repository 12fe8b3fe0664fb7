import { describe, expect, it } from 'vitest';

import { overrideAgent, updateSessionAgent } from './agent-overrides.ts';
import { createAgentBodySchema } from './agents.ts';
import { resolveAgent, type DefaultEffort } from './resolve-agent.ts';
import { resolveTools } from './resolve-tools.ts';
import { agentOverridesSchema, sessionAgentUpdateSchema, type SessionAgent } from './sessions.ts';

const defaultEffort: DefaultEffort = () => 'medium';
const toolset = { type: 'agent_toolset_20260401' as const };
const mcpToolset = { type: 'mcp_toolset' as const, mcp_server_name: 'git' };
const server = { type: 'url', name: 'git', url: 'https://mcp.example.com' };

const { metadata: _, ...config } = resolveAgent(
  createAgentBodySchema.parse({
    name: 'Ann',
    model: { id: 'big', effort: 'max', inference_geo: 'us' },
    system: 'Be kind.',
    tools: [toolset, mcpToolset],
    mcp_servers: [server],
    skills: [{ type: 'custom', skill_id: 'skill_1' }],
  }),
  defaultEffort,
);
const agent: SessionAgent = { type: 'agent', id: 'agent_1', version: 3, ...config, multiagent: null };

const override = (rest: object) =>
  overrideAgent(
    agent,
    agentOverridesSchema.parse({ type: 'agent_with_overrides', id: 'agent_1', ...rest }),
    defaultEffort,
  );

describe('overriding an agent for a session', () => {
  it.each([
    ['nothing', {}, {}],
    ['the prompt', { system: 'Be brief.' }, { system: 'Be brief.' }],
    ['the prompt with null', { system: null }, { system: null }],
    [
      "the model, with that model's default effort",
      { model: { id: 'big', effort: 'low' } },
      { model: { id: 'big', effort: { type: 'medium' }, speed: 'standard' } },
    ],
    [
      "the model's region",
      { model: { id: 'big', inference_geo: 'global' } },
      { model: { id: 'big', effort: { type: 'medium' }, speed: 'standard', inference_geo: 'global' } },
    ],
    ['skills with []', { skills: [] }, { skills: [] }],
    [
      'everything with null',
      { tools: null, mcp_servers: null, skills: null },
      { tools: [], mcp_servers: [], skills: [] },
    ],
    ['servers and tools', { tools: [toolset], mcp_servers: [] }, { tools: resolveTools([toolset]), mcp_servers: [] }],
  ])('changes %s', (_, overrides, changes) => {
    const changed = Object.keys(changes).length > 0;
    expect(override(overrides)).toEqual({ ok: true, value: { ...agent, ...changes }, changed });
  });

  it.each([
    [
      'no tools under skills',
      { tools: [mcpToolset] },
      'agent.skills: a non-empty list needs the read tool to be enabled',
    ],
    [
      'no servers under a toolset',
      { mcp_servers: [] },
      'agent.tools.1.mcp_server_name: no entry of mcp_servers is named "git"',
    ],
  ])('refuses %s', (_, overrides, message) => {
    expect(override(overrides)).toEqual({ ok: false, refusal: { code: 'invalid_request', message } });
  });
});

describe('updating the agent of a living session', () => {
  const update = (body: object) => updateSessionAgent(agent, sessionAgentUpdateSchema.parse(body));

  it('replaces lists in full and sees when nothing changed', () => {
    expect(update({ tools: [toolset], mcp_servers: null })).toMatchObject({
      value: { tools: resolveTools([toolset]), mcp_servers: [] },
      changed: true,
    });
    expect(update({ tools: [toolset, mcpToolset] })).toMatchObject({ ok: true, changed: false });
    expect(update({})).toEqual({ ok: true, value: agent, changed: false });
  });

  it('holds the result to the rules of agents', () => {
    expect(update({ tools: null })).toMatchObject({ ok: false, refusal: { code: 'invalid_request' } });
  });
});
