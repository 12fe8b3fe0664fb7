/** From what a request says about tools to what a response shows: every tool of a set resolved, in a fixed order. */
import type {
  BuiltinToolConfigParams,
  BuiltinToolsetParams,
  McpToolsetParams,
  ToolDefaultsParams,
  ToolParams,
  UrlSourcesParams,
} from './tool-params.ts';
import {
  builtinToolNames,
  type BuiltinToolConfig,
  type BuiltinToolName,
  type BuiltinToolset,
  type McpToolset,
  type PermissionPolicy,
  type Tool,
  type ToolDefaults,
  type UrlSourceFilter,
  type UrlSources,
} from './tools.ts';

/** A call of a built-in tool stays in the sandbox; an MCP server is somebody else's. */
const builtinDefaults: ToolDefaults = { enabled: true, permission_policy: { type: 'always_allow' } };
const mcpDefaults: ToolDefaults = { enabled: true, permission_policy: { type: 'always_ask' } };

/** Applied to what it returned, it returns the same. */
export function resolveTools(tools: readonly ToolParams[]): Tool[] {
  return tools.map(resolveTool);
}

function resolveTool(tool: ToolParams): Tool {
  switch (tool.type) {
    case 'agent_toolset_20260401':
      return resolveBuiltinToolset(tool);
    case 'mcp_toolset':
      return resolveMcpToolset(tool);
    case 'custom':
      return tool;
  }
}

function resolveBuiltinToolset(set: BuiltinToolsetParams): BuiltinToolset {
  const defaults = over(set.default_config, builtinDefaults);
  const own = new Map((set.configs ?? []).map((config) => [config.name, config]));
  return {
    type: set.type,
    default_config: defaults,
    configs: builtinToolNames.map((name) => resolveConfig(name, own.get(name), defaults)),
  };
}

function resolveMcpToolset(set: McpToolsetParams): McpToolset {
  const defaults = over(set.default_config, mcpDefaults);
  return {
    type: set.type,
    mcp_server_name: set.mcp_server_name,
    default_config: defaults,
    configs: (set.configs ?? []).map((config) => ({ name: config.name, ...over(config, defaults) })),
  };
}

function resolveConfig(
  name: BuiltinToolName,
  own: BuiltinToolConfigParams | undefined,
  defaults: ToolDefaults,
): BuiltinToolConfig {
  const base = over(own, defaults);
  if (name === 'web_fetch') {
    const fetch = own?.name === name ? own : undefined;
    return {
      name,
      type: name,
      ...base,
      ...domainsOf(fetch),
      ...(fetch?.max_content_tokens == null ? {} : { max_content_tokens: fetch.max_content_tokens }),
      url_sources: resolveUrlSources(fetch?.url_sources),
    };
  }
  if (name === 'web_search') {
    const search = own?.name === name ? own : undefined;
    return {
      name,
      type: name,
      ...base,
      ...domainsOf(search),
      ...(search?.user_location == null ? {} : { user_location: search.user_location }),
    };
  }
  return { name, type: name, ...base } as BuiltinToolConfig; // TypeScript does not see that both are the same name
}

/** What is given counts; null and absent fall through. */
function over(given: ToolDefaultsParams | null | undefined, defaults: ToolDefaults): ToolDefaults {
  const policy: PermissionPolicy = given?.permission_policy ?? defaults.permission_policy;
  return { enabled: given?.enabled ?? defaults.enabled, permission_policy: policy };
}

type DomainLists = { allowed_domains?: string[] | null; blocked_domains?: string[] | null };

function domainsOf(config: DomainLists | undefined): { allowed_domains?: string[]; blocked_domains?: string[] } {
  return {
    ...(config?.allowed_domains == null ? {} : { allowed_domains: config.allowed_domains }),
    ...(config?.blocked_domains == null ? {} : { blocked_domains: config.blocked_domains }),
  };
}

function resolveUrlSources(sources: UrlSourcesParams | null | undefined): UrlSources | null {
  if (sources == null) return null;
  return {
    client_tool_results: objectForm(sources.client_tool_results),
    server_tool_results: objectForm(sources.server_tool_results),
    user_input: objectForm(sources.user_input),
  };
}

function objectForm<T extends UrlSourceFilter | { type: 'all' | 'none' }>(
  source: 'all' | 'none' | T | null | undefined,
): T | { type: 'all' | 'none' } | null {
  if (source == null) return null;
  return typeof source === 'string' ? { type: source } : source;
}
