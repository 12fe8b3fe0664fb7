import { describe, expect, it } from 'vitest';

import { updateAgent } from './agent-update.ts';
import { createAgentBodySchema, updateAgentBodySchema, type AgentConfig } from './agents.ts';
import { resolveAgent, type DefaultEffort } from './resolve-agent.ts';

const defaultEffort: DefaultEffort = (id) => (id === 'small' ? 'low' : 'high');

function stored(rest: object = {}): AgentConfig {
  return resolveAgent(createAgentBodySchema.parse({ name: 'Ann', model: 'big', ...rest }), defaultEffort);
}
const update = (agent: AgentConfig, body: object) =>
  updateAgent(agent, updateAgentBodySchema.parse(body), defaultEffort);

const custom = {
  type: 'custom',
  name: 'look_up',
  description: 'd',
  input_schema: { type: 'object', properties: { a: {}, b: {} } },
};
const server = { type: 'url', name: 'git', url: 'https://mcp.example.com' };
const mcpToolset = { type: 'mcp_toolset', mcp_server_name: 'git' };

describe('creating an agent', () => {
  it('fills in what the body leaves out', () => {
    expect(stored()).toEqual({
      name: 'Ann',
      description: null,
      model: { id: 'big', effort: { type: 'high' }, speed: 'standard' },
      system: null,
      tools: [],
      mcp_servers: [],
      skills: [],
      multiagent: null,
      execution_identity: { type: 'service_account' },
      metadata: {},
    });
  });

  it.each([
    ['small', { id: 'small', effort: { type: 'low' }, speed: 'standard' }],
    [
      { id: 'small', effort: 'max' },
      { id: 'small', effort: { type: 'max' }, speed: 'standard' },
    ],
    [
      { id: 'small', effort: { type: 'xhigh' }, speed: 'fast', inference_geo: 'us' },
      { id: 'small', effort: { type: 'xhigh' }, speed: 'fast', inference_geo: 'us' },
    ],
    [
      { id: 'small', effort: null, speed: null, inference_geo: null },
      { id: 'small', effort: { type: 'low' }, speed: 'standard' },
    ],
  ])('resolves the model %j', (model, expected) => {
    expect(stored({ model }).model).toEqual(expected);
  });
});

describe('updating an agent', () => {
  const full = stored({
    description: 'd',
    system: 's',
    tools: [custom, mcpToolset],
    mcp_servers: [server],
    metadata: { a: '1', b: '2' },
  });

  it.each([
    ['nothing', {}, {}],
    ['a name', { name: 'Bea' }, { name: 'Bea' }],
    ['texts with null', { description: null, system: null }, { description: null, system: null }],
    ['texts with nothing', { description: '', system: '' }, { description: null, system: null }],
    [
      'lists as a whole',
      { tools: [mcpToolset] },
      { tools: stored({ tools: [mcpToolset], mcp_servers: [server] }).tools },
    ],
    ['lists with null and []', { tools: null, mcp_servers: [] }, { tools: [], mcp_servers: [] }],
    ['metadata key by key', { metadata: { a: null, b: '', c: '3' } }, { metadata: { b: '', c: '3' } }],
    ['metadata with null: nothing', { metadata: null }, {}],
    [
      'the identity',
      { execution_identity: { type: 'aws_role', role_arn: 'arn' } },
      { execution_identity: { type: 'aws_role', role_arn: 'arn' } },
    ],
  ])('changes %s', (_, body, changes) => {
    const expected = { ...full, ...changes };
    expect(update(full, body)).toEqual({ ok: true, value: expected, changed: Object.keys(changes).length > 0 });
  });

  it.each([
    ['the same id keeps the effort', 'big', { id: 'big', effort: { type: 'low' }, speed: 'standard' }],
    [
      'the same id as an object keeps it too, and loses the rest',
      { id: 'big' },
      { id: 'big', effort: { type: 'low' }, speed: 'standard' },
    ],
    ['a given effort counts', { id: 'big', effort: 'max' }, { id: 'big', effort: { type: 'max' }, speed: 'standard' }],
    ['another id takes its own default', 'other', { id: 'other', effort: { type: 'high' }, speed: 'standard' }],
  ])('of the model: %s', (_, model, expected) => {
    const agent = stored({ model: { id: 'big', effort: 'low', speed: 'fast', inference_geo: 'us' } });
    expect(update(agent, { model })).toMatchObject({ value: { model: expected }, changed: true });
  });

  it.each([
    [
      'the same tools in other words',
      {
        tools: [
          { ...custom, input_schema: { properties: { b: {}, a: {} }, type: 'object' } },
          { ...mcpToolset, default_config: { enabled: true } },
        ],
      },
    ],
    ['the same model', { model: { id: 'big', effort: 'high' } }],
    ['the default identity', { execution_identity: null }],
    ['a key that is not there', { metadata: { z: null } }],
    ['the same multiagent', { multiagent: null }],
  ])('changes nothing with %s', (_, body) => {
    expect(update(full, body)).toMatchObject({ ok: true, changed: false });
  });

  it.each([
    [
      'a server that lost its toolset',
      { tools: [] },
      { code: 'invalid_request', message: 'mcp_servers.0.name: no mcp_toolset in tools uses "git"' },
    ],
    [
      'a toolset that lost its server',
      { mcp_servers: null },
      { code: 'invalid_request', message: 'tools.1.mcp_server_name: no entry of mcp_servers is named "git"' },
    ],
    [
      'too much metadata in all',
      { metadata: Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`k${i}`, 'v'])) },
      { code: 'invalid_metadata', message: 'metadata: must have at most 16 pairs, got 17' },
    ],
  ])('refuses %s', (_, body, refusal) => {
    expect(update(full, body)).toEqual({ ok: false, refusal });
  });

  it('still renames an agent that today would not be created', () => {
    const old = { ...full, mcp_servers: [] };
    expect(update(old, { name: 'Bea' })).toMatchObject({ ok: true, changed: true });
  });
});
