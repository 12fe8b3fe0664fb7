import { describe, expect, it } from 'vitest';

import { createAgentBodySchema, updateAgentBodySchema } from './agents.ts';
import { parseRequest } from './parse-request.ts';

const agent = { name: 'Ann', model: 'a-model' };
const custom = { type: 'custom', name: 'look_up', description: 'Looks up', input_schema: { type: 'object' } };
const server = { type: 'url', name: 'git', url: 'https://mcp.example.com' };

const withTool = (tool: object) => ({ ...agent, tools: [tool] });
const withSchema = (schema: object) => withTool({ ...custom, input_schema: { type: 'object', ...schema } });
const withConfig = (config: object) => withTool({ type: 'agent_toolset_20260401', configs: [config] });

describe('creating an agent', () => {
  it.each([
    ['no body', null, 'must be an object'],
    ['nothing', {}, 'name: Field required; model: Field required'],
    ['an unknown field', { ...agent, colour: 1 }, 'colour: Extra inputs are not permitted'],
    ['an empty name', { ...agent, name: '' }, 'name: must have 1 to 256 characters'],
    ['a long name', { ...agent, name: 'n'.repeat(257) }, 'name: must have 1 to 256 characters'],
    [
      'a long description',
      { ...agent, description: 'd'.repeat(2049) },
      'description: must have at most 2048 characters',
    ],
    ['a long prompt', { ...agent, system: 's'.repeat(100_001) }, 'system: must have at most 100000 characters'],
    [
      'an unknown effort',
      { ...agent, model: { id: 'm', effort: 'huge' } },
      "model.effort: must be 'low', 'medium', 'high', 'xhigh' or 'max'",
    ],
    [
      'an unknown field of a model',
      { ...agent, model: { id: 'm', size: 1 } },
      'model.size: Extra inputs are not permitted',
    ],
    [
      'an unknown region',
      { ...agent, model: { id: 'm', inference_geo: 'mars' } },
      "model.inference_geo: must be 'us' or 'global'",
    ],
    [
      'an unknown tool type',
      withTool({ type: 'x' }),
      "tools.0.type: must be 'agent_toolset_20260401', 'mcp_toolset' or 'custom'",
    ],
    ['metadata that is no text', { ...agent, metadata: { a: 1 } }, 'metadata.a: must be a string'],
    [
      'a server URL of another scheme',
      { ...withTool({ type: 'mcp_toolset', mcp_server_name: 'git' }), mcp_servers: [{ ...server, url: 'ftp://x' }] },
      'mcp_servers.0.url: must be an http or https URL',
    ],
  ])('refuses %s', (_, body, message) => {
    expect(parseRequest(createAgentBodySchema, body)).toEqual({
      ok: false,
      refusal: { code: 'invalid_request', message },
    });
  });

  it.each([
    ['a built-in name', withTool({ ...custom, name: 'bash' }), 'tools.0.name: is the name of a built-in tool'],
    ['a reserved prefix', withTool({ ...custom, name: 'mcp__x' }), 'tools.0.name: must not begin with "mcp__"'],
    [
      'odd characters',
      withTool({ ...custom, name: 'a b' }),
      'tools.0.name: must have 1 to 128 letters, digits, underscores or hyphens',
    ],
    ['no description', withTool({ ...custom, description: '' }), 'tools.0.description: must not be empty'],
    ['a taken name', { ...agent, tools: [custom, custom] }, 'tools.1.name: duplicate tool name "look_up"'],
    [
      'another schema type',
      withTool({ ...custom, input_schema: { type: 'string' } }),
      "tools.0.input_schema.type: must be 'object'",
    ],
    ['a union at the top', withSchema({ anyOf: [] }), 'tools.0.input_schema.anyOf: is not supported at the top level'],
    [
      'a deep $ref',
      withSchema({ properties: { a: { items: [{ $ref: '#' }] } } }),
      'tools.0.input_schema.properties.a.items.0.$ref: is not supported',
    ],
    [
      'an odd property name',
      withSchema({ properties: { 'a b': {} } }),
      'tools.0.input_schema.properties: property names must have 1 to 64 letters, digits, underscores, dots or hyphens',
    ],
    [
      'an odd nested property name',
      withSchema({ properties: { a: { properties: { é: {} } } } }),
      'tools.0.input_schema.properties.a.properties: property names must have 1 to 64 letters, digits, underscores, dots or hyphens',
    ],
  ])('refuses a custom tool with %s', (_, body, message) => {
    expect(parseRequest(createAgentBodySchema, body)).toMatchObject({ ok: false, refusal: { message } });
  });

  it.each([
    ['unions further down', { properties: { a: { anyOf: [{ type: 'string' }] } } }],
    ['a property called properties', { properties: { properties: { type: 'string', default: { $ref: 'x' } } } }],
    ['examples that look like references', { properties: { a: { enum: [{ $ref: 'x' }] } } }],
  ])('accepts an input schema with %s', (_, schema) => {
    expect(parseRequest(createAgentBodySchema, withSchema(schema))).toMatchObject({ ok: true });
  });

  it('refuses an input schema that is too deep, of any depth', () => {
    let deep: object = {};
    for (let i = 0; i < 100_000; i++) deep = { items: deep };
    const message = 'tools.0.input_schema.properties: must have at most 100 levels';
    for (const property of [deep, { default: deep }]) {
      const body = withSchema({ properties: { a: property } });
      expect(parseRequest(createAgentBodySchema, body)).toMatchObject({ ok: false, refusal: { message } });
    }
  });

  it.each([
    [
      'an unknown tool',
      withConfig({ name: 'fly' }),
      "tools.0.configs.0.name: must be 'bash', 'read', 'write', 'edit', 'glob', 'grep', 'web_fetch' or 'web_search'",
    ],
    ['another type than name', withConfig({ name: 'bash', type: 'read' }), "tools.0.configs.0.type: must be 'bash'"],
    [
      'a tool twice',
      withTool({ type: 'agent_toolset_20260401', configs: [{ name: 'bash' }, { name: 'bash' }] }),
      'tools.0.configs.1.name: duplicate name "bash"',
    ],
    [
      'itself twice',
      { ...agent, tools: [{ type: 'agent_toolset_20260401' }, { type: 'agent_toolset_20260401' }] },
      'tools.1.type: only one agent_toolset_20260401 is allowed',
    ],
    [
      'both domain lists',
      withConfig({ name: 'web_search', allowed_domains: ['a.com'], blocked_domains: ['b.com'] }),
      'tools.0.configs.0: Only one of allowed_domains or blocked_domains may be set.',
    ],
    [
      'no tokens',
      withConfig({ name: 'web_fetch', max_content_tokens: 0 }),
      'tools.0.configs.0.max_content_tokens: must be at least 1',
    ],
    [
      'a field of another tool',
      withConfig({ name: 'bash', allowed_domains: ['a.com'] }),
      'tools.0.configs.0.allowed_domains: Extra inputs are not permitted',
    ],
    [
      'no URL source at all',
      withConfig({
        name: 'web_fetch',
        url_sources: { client_tool_results: 'none', server_tool_results: { type: 'none' }, user_input: 'none' },
      }),
      'tools.0.configs.0.url_sources: at least one source must not be "none"',
    ],
    [
      'a source that is no tool of the agent',
      withConfig({
        name: 'web_fetch',
        url_sources: { client_tool_results: { type: 'only', tools: [{ type: 'tool_reference', name: 'x' }] } },
      }),
      'tools.0.configs.0.url_sources.client_tool_results.tools.0.name: "x" is no custom tool of this agent',
    ],
    [
      'an empty list of sources',
      withConfig({ name: 'web_fetch', url_sources: { server_tool_results: { type: 'only', tools: [] } } }),
      'tools.0.configs.0.url_sources.server_tool_results.tools: must have 1 to 128 tools; use "none" for no tool',
    ],
  ])('refuses a toolset with %s', (_, body, message) => {
    expect(parseRequest(createAgentBodySchema, body)).toMatchObject({ ok: false, refusal: { message } });
  });

  it.each([
    [
      'a server without toolset',
      { ...agent, mcp_servers: [server] },
      'mcp_servers.0.name: no mcp_toolset in tools uses "git"',
    ],
    [
      'a toolset without server',
      withTool({ type: 'mcp_toolset', mcp_server_name: 'git' }),
      'tools.0.mcp_server_name: no entry of mcp_servers is named "git"',
    ],
    [
      'skills without read',
      { ...agent, skills: [{ type: 'custom', skill_id: 'skill_1' }] },
      'skills: a non-empty list needs the read tool to be enabled',
    ],
    [
      'skills with read switched off',
      { ...withConfig({ name: 'read', enabled: false }), skills: [{ type: 'custom', skill_id: 'skill_1' }] },
      'skills: a non-empty list needs the read tool to be enabled',
    ],
    [
      'too many tools',
      { ...agent, tools: Array.from({ length: 257 }, (_, i) => ({ ...custom, name: `t${i}` })) },
      'tools: must have at most 256 tools',
    ],
    [
      'too many tools with the built-in set',
      {
        ...agent,
        tools: [
          { type: 'agent_toolset_20260401' },
          ...Array.from({ length: 249 }, (_, i) => ({ ...custom, name: `t${i}` })),
        ],
      },
      'tools: must have at most 256 tools, got 257',
    ],
    [
      'too many domains',
      withConfig({ name: 'web_fetch', blocked_domains: Array.from({ length: 65 }, (_, i) => `d${i}.com`) }),
      'tools.0.configs.0.blocked_domains: must have at most 64 domains',
    ],
    [
      'too many servers',
      { ...agent, mcp_servers: Array.from({ length: 21 }, (_, i) => ({ ...server, name: `s${i}` })) },
      'mcp_servers: must have at most 20 servers',
    ],
  ])('refuses %s', (_, body, message) => {
    expect(parseRequest(createAgentBodySchema, body)).toMatchObject({ ok: false, refusal: { message } });
  });

  it('counts characters, not UTF-16 units', () => {
    expect(parseRequest(createAgentBodySchema, { ...agent, name: '🐟'.repeat(256) }).ok).toBe(true);
    expect(parseRequest(createAgentBodySchema, { ...agent, name: '🐟'.repeat(257) }).ok).toBe(false);
  });

  it('marks refused metadata with a code of its own', () => {
    const metadata = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v']));
    expect(parseRequest(createAgentBodySchema, { ...agent, metadata })).toEqual({
      ok: false,
      refusal: { code: 'invalid_metadata', message: 'metadata: must have at most 16 pairs, got 17' },
    });
  });

  it('accepts everything at once', () => {
    const body = {
      ...agent,
      model: { id: 'm', effort: { type: 'max' }, speed: 'fast', inference_geo: 'us' },
      description: null,
      system: 'Be kind.',
      tools: [
        {
          type: 'agent_toolset_20260401',
          default_config: { enabled: false },
          configs: [{ name: 'read', enabled: true }],
        },
        {
          type: 'mcp_toolset',
          mcp_server_name: 'git',
          configs: [{ name: 'clone', permission_policy: { type: 'auto' } }],
        },
        custom,
      ],
      mcp_servers: [server],
      skills: [{ type: 'custom', skill_id: 'skill_1', version: 'latest' }],
      multiagent: { type: 'coordinator', agents: ['agent_1', { type: 'self' }, { type: 'advisor', model: 'm' }] },
      execution_identity: { type: 'service_account' },
      metadata: { team: 'blue' },
    };
    expect(parseRequest(createAgentBodySchema, body)).toEqual({ ok: true, value: body });
  });
});

describe('updating an agent', () => {
  it.each([
    ['version 0', { version: 0 }, 'version: must be at least 1'],
    ['no name', { name: null }, 'name: must be a string'],
    ['no model', { model: null }, 'model: must be a string or an object'],
  ])('refuses %s', (_, body, message) => {
    expect(parseRequest(updateAgentBodySchema, body)).toMatchObject({ ok: false, refusal: { message } });
  });

  it('lets lists, texts and keys be cleared with null', () => {
    const body = {
      description: null,
      system: null,
      tools: null,
      mcp_servers: null,
      skills: null,
      metadata: { a: null },
    };
    expect(parseRequest(updateAgentBodySchema, body)).toEqual({ ok: true, value: body });
  });
});
