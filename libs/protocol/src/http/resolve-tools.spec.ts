import { describe, expect, it } from 'vitest';

import { resolveTools } from './resolve-tools.ts';
import { enablesWebSearchExplicitly, toolParamsSchema, type ToolParams } from './tool-params.ts';
import { builtinToolNames, toolSchema, type BuiltinToolset } from './tools.ts';

const toolset = (rest: object = {}) => toolParamsSchema.parse({ type: 'agent_toolset_20260401', ...rest });

function resolved(rest: object = {}): BuiltinToolset {
  const [set] = resolveTools([toolset(rest)]);
  if (set?.type !== 'agent_toolset_20260401') throw new Error('not the built-in set');
  return set;
}
function configOf(name: string, rest: object) {
  return resolved(rest).configs.find((config) => config.name === name);
}

const allow = { type: 'always_allow' };
const ask = { type: 'always_ask' };

describe('resolving tools', () => {
  it('lists every built-in tool in order, with its type and the defaults of the set', () => {
    const { default_config, configs } = resolved({ configs: [{ name: 'grep' }, { name: 'bash' }] });
    expect(default_config).toEqual({ enabled: true, permission_policy: allow });
    expect(configs.map((config) => config.name)).toEqual([...builtinToolNames]);
    expect(configs[0]).toEqual({ name: 'bash', type: 'bash', enabled: true, permission_policy: allow });
    expect(configs[6]).toMatchObject({ name: 'web_fetch', url_sources: null });
  });

  it.each([
    [
      'the entry over the default',
      {
        default_config: { enabled: false, permission_policy: ask },
        configs: [{ name: 'bash', enabled: true, permission_policy: allow }],
      },
      { enabled: true, permission_policy: allow },
    ],
    [
      'the default where the entry says nothing',
      { default_config: { enabled: false, permission_policy: ask }, configs: [{ name: 'bash' }] },
      { enabled: false, permission_policy: ask },
    ],
    [
      'null as nothing',
      { default_config: null, configs: [{ name: 'bash', enabled: null, permission_policy: null }] },
      { enabled: true, permission_policy: allow },
    ],
    [
      'the parts one by one',
      { default_config: { permission_policy: ask }, configs: [{ name: 'bash', enabled: false }] },
      { enabled: false, permission_policy: ask },
    ],
  ])('takes %s', (_, set, expected) => {
    expect(configOf('bash', set)).toMatchObject(expected);
  });

  it('keeps what the web tools have of their own, in its object form', () => {
    const configs = [
      {
        name: 'web_fetch',
        max_content_tokens: 500,
        blocked_domains: ['a.com'],
        allowed_domains: null,
        url_sources: {
          client_tool_results: 'none',
          server_tool_results: { type: 'only', tools: [{ type: 'tool_reference', name: 'web_search' }] },
        },
      },
      { name: 'web_search', user_location: { type: 'approximate', city: 'Bonn' } },
    ];
    expect(configOf('web_fetch', { configs })).toEqual({
      name: 'web_fetch',
      type: 'web_fetch',
      enabled: true,
      permission_policy: allow,
      max_content_tokens: 500,
      blocked_domains: ['a.com'],
      url_sources: {
        client_tool_results: { type: 'none' },
        server_tool_results: { type: 'only', tools: [{ type: 'tool_reference', name: 'web_search' }] },
        user_input: null,
      },
    });
    expect(configOf('web_search', { configs })).toMatchObject({ user_location: { type: 'approximate', city: 'Bonn' } });
  });

  it('asks before the tools of MCP servers', () => {
    const set = toolParamsSchema.parse({
      type: 'mcp_toolset',
      mcp_server_name: 'git',
      configs: [{ name: 'log', permission_policy: allow }],
    });
    expect(resolveTools([set])).toEqual([
      {
        type: 'mcp_toolset',
        mcp_server_name: 'git',
        default_config: { enabled: true, permission_policy: ask },
        configs: [{ name: 'log', enabled: true, permission_policy: allow }],
      },
    ]);
  });

  it('changes nothing when applied again, and makes what the response schema describes', () => {
    const custom = {
      type: 'custom',
      name: 'a',
      description: 'd',
      input_schema: { type: 'object', title: 'A' },
    } as const;
    const once = resolveTools([toolset({ configs: [{ name: 'bash', enabled: false }] }), custom]);
    expect(resolveTools(once)).toEqual(once);
    expect(once.map((tool) => toolSchema.parse(tool))).toEqual(once);
  });
});

describe('switching web search on', () => {
  it.each<[string, ToolParams[] | null, boolean]>([
    ['no tools', null, false],
    ['the set alone', [toolset()], false],
    ['an entry without enabled', [toolset({ configs: [{ name: 'web_search' }] })], false],
    ['an entry switched off', [toolset({ configs: [{ name: 'web_search', enabled: false }] })], false],
    ['an entry switched on', [toolset({ configs: [{ name: 'web_search', enabled: true }] })], true],
    ['another entry switched on', [toolset({ configs: [{ name: 'web_fetch', enabled: true }] })], false],
  ])('with %s', (_, tools, expected) => {
    expect(enablesWebSearchExplicitly(tools)).toBe(expected);
  });
});
