/** Rules between an agent's tools, MCP servers and skills. They hold for the result of a create, an update or an override. */
import type { Problem } from './problem.ts';
import { duplicateNames, type ToolParams } from './tool-params.ts';
import { builtinToolNames } from './tools.ts';

/** In all: every tool of the built-in set counts. */
export const maxTools = 256;
const serverTools = new Set(['web_search', 'web_fetch']);

/** Request and response forms both fit. */
export interface AgentParts {
  tools: readonly ToolParams[];
  mcp_servers: readonly { name: string }[];
  skills: readonly unknown[];
}

export function agentProblems(parts: AgentParts): Problem[] {
  return [
    ...toolListProblems(parts.tools),
    ...serverProblems(parts),
    ...urlSourceProblems(parts.tools),
    ...skillProblems(parts),
  ];
}

/** At most 256 tools, one toolset of a kind, custom names unique. */
function toolListProblems(tools: readonly ToolParams[]): Problem[] {
  const count = tools.reduce((sum, tool) => sum + toolCount(tool), 0);
  if (count > maxTools) return [{ path: ['tools'], message: `must have at most ${maxTools} tools, got ${count}` }];
  const seen = new Set<string>();
  return tools.flatMap((tool, index) => {
    const { key, field, message } = identity(tool);
    if (seen.has(key)) return [{ path: ['tools', index, field], message }];
    seen.add(key);
    return [];
  });
}

function toolCount(tool: ToolParams): number {
  switch (tool.type) {
    case 'agent_toolset_20260401':
      return builtinToolNames.length;
    case 'mcp_toolset':
      // What the server offers is known at connect time only.
      return tool.configs?.length ?? 0;
    case 'custom':
      return 1;
  }
}

function identity(tool: ToolParams): { key: string; field: string; message: string } {
  switch (tool.type) {
    case 'agent_toolset_20260401':
      return { key: tool.type, field: 'type', message: `only one ${tool.type} is allowed` };
    case 'mcp_toolset': {
      const name = tool.mcp_server_name;
      return { key: `mcp ${name}`, field: 'mcp_server_name', message: `duplicate mcp_toolset for server "${name}"` };
    }
    case 'custom':
      return { key: `custom ${tool.name}`, field: 'name', message: `duplicate tool name "${tool.name}"` };
  }
}

/** Server names are unique; every server has a toolset, every toolset a server. */
function serverProblems({ tools, mcp_servers: servers }: AgentParts): Problem[] {
  const declared = new Set(servers.map((server) => server.name));
  const used = new Set<string>();
  const problems = duplicateNames(servers).map(({ path, message }) => ({ path: ['mcp_servers', ...path], message }));
  tools.forEach((tool, index) => {
    if (tool.type !== 'mcp_toolset') return;
    used.add(tool.mcp_server_name);
    if (!declared.has(tool.mcp_server_name)) {
      const message = `no entry of mcp_servers is named "${tool.mcp_server_name}"`;
      problems.push({ path: ['tools', index, 'mcp_server_name'], message });
    }
  });
  servers.forEach(({ name }, index) => {
    if (used.has(name)) return;
    problems.push({ path: ['mcp_servers', index, 'name'], message: `no mcp_toolset in tools uses "${name}"` });
  });
  return problems;
}

/** `url_sources` name custom tools of the same agent, or the two web tools. */
function urlSourceProblems(tools: readonly ToolParams[]): Problem[] {
  const custom = new Set(tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])));
  return tools.flatMap((tool, index) => {
    if (tool.type !== 'agent_toolset_20260401') return [];
    return (tool.configs ?? []).flatMap((config, configIndex) => {
      if (config.name !== 'web_fetch' || !config.url_sources) return [];
      const path = ['tools', index, 'configs', configIndex, 'url_sources'];
      const { client_tool_results: client, server_tool_results: server } = config.url_sources;
      return [
        ...referenceProblems(client, custom, [...path, 'client_tool_results'], 'is no custom tool of this agent'),
        ...referenceProblems(server, serverTools, [...path, 'server_tool_results'], 'must be web_search or web_fetch'),
      ];
    });
  });
}

type FilterParams = 'all' | 'none' | { type: string; tools?: readonly { name: string }[] } | null | undefined;

function referenceProblems(
  filter: FilterParams,
  known: ReadonlySet<string>,
  path: (string | number)[],
  complaint: string,
): Problem[] {
  if (typeof filter !== 'object' || filter === null) return [];
  return (filter.tools ?? []).flatMap(({ name }, index) =>
    known.has(name) ? [] : [{ path: [...path, 'tools', index, 'name'], message: `"${name}" ${complaint}` }],
  );
}

/** Skills are files that the agent reads. */
function skillProblems({ tools, skills }: AgentParts): Problem[] {
  if (skills.length === 0 || tools.some(hasRead)) return [];
  return [{ path: ['skills'], message: 'a non-empty list needs the read tool to be enabled' }];
}

function hasRead(tool: ToolParams): boolean {
  if (tool.type !== 'agent_toolset_20260401') return false;
  const own = tool.configs?.find((config) => config.name === 'read')?.enabled;
  return own ?? tool.default_config?.enabled ?? true;
}
