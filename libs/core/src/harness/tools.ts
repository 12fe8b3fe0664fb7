/** What an agent's tool list means: what the model is offered, and how each call of it stands. */
import type { BuiltinToolConfig, BuiltinToolName, ModelBlock, SessionAgent } from '@manyhands/protocol';
import type { CallKind } from './settle.ts';

/** Tools that exist in this installation beside the hand's. */
export interface ToolAvailability {
  webSearch: boolean;
}

export interface OfferedTool {
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
}

/** The tools that the model is offered, in canonical order: built-ins as listed, then custom ones by name. */
export function offeredTools(
  agent: Pick<SessionAgent, 'tools'>,
  available: ToolAvailability,
  builtins: Readonly<Record<BuiltinToolName, OfferedTool>>,
): OfferedTool[] {
  const offered: OfferedTool[] = [];
  for (const config of builtinConfigs(agent)) {
    if (config.enabled && isAvailable(config.name, available)) offered.push(builtins[config.name]);
  }
  const custom = agent.tools.filter((tool) => tool.type === 'custom');
  custom.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, description, input_schema } of custom) offered.push({ name, description, input_schema });
  return offered;
}

function isAvailable(name: BuiltinToolName, available: ToolAvailability): boolean {
  return name !== 'web_search' || available.webSearch;
}

function builtinConfigs(agent: Pick<SessionAgent, 'tools'>): BuiltinToolConfig[] {
  return agent.tools.flatMap((tool) => (tool.type === 'agent_toolset_20260401' ? tool.configs : []));
}

export function builtinConfig<N extends BuiltinToolName>(
  agent: Pick<SessionAgent, 'tools'>,
  name: N,
): Extract<BuiltinToolConfig, { name: N }> | null {
  const found = builtinConfigs(agent).find((config) => config.name === name);
  return (found as Extract<BuiltinToolConfig, { name: N }> | undefined) ?? null;
}

/** How the `tool_use` blocks of a response stand, by block index. `auto` cannot judge yet and asks (indeterminate). */
export function classifyCalls(
  blocks: readonly ModelBlock[],
  agent: Pick<SessionAgent, 'tools'>,
  available: ToolAvailability,
): Map<number, CallKind> {
  const kinds = new Map<number, CallKind>();
  blocks.forEach((block, index) => {
    if (block.type === 'tool_use') kinds.set(index, classify(String(block.name), agent, available));
  });
  return kinds;
}

function classify(name: string, agent: Pick<SessionAgent, 'tools'>, available: ToolAvailability): CallKind {
  const config = builtinConfigs(agent).find((candidate) => candidate.name === name);
  if (config) {
    const policy = config.permission_policy.type;
    const usable = config.enabled && isAvailable(config.name, available);
    const permission = !usable ? 'deny' : policy === 'always_allow' ? 'allow' : 'ask';
    return { kind: 'builtin', tool: config.name, permission, policy };
  }
  const custom = agent.tools.some((tool) => tool.type === 'custom' && tool.name === name);
  return custom ? { kind: 'custom' } : { kind: 'unknown' };
}
