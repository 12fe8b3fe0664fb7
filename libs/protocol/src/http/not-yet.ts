/**
 * What the schemas know and this server does not do yet. Each function gives a message for the first such thing that is
 * really used, or null; an empty list or null asks for nothing. A phase that brings one of them deletes it here.
 */
import type { CreateEnvironmentBody, UpdateEnvironmentBody } from './environments.ts';
import type { EventParams } from './events.ts';
import type { CreateSessionBody } from './sessions.ts';

/**
 * Looks at a body before it is parsed, so at any JSON: the rules between tools, servers and skills would first send the
 * client to complete what is then refused. What has another form than these lists is left to the schema.
 */
export function unsupportedInAgent(rawBody: unknown): string | null {
  const multiagent = fieldOf(rawBody, 'multiagent');
  if (typeof multiagent === 'object' && multiagent !== null)
    return 'multiagent: multi-agent sessions are not supported yet';
  return unsupportedInLists(rawBody, '');
}

/** As `unsupportedInAgent`, for the agent in the body of a session. */
export function unsupportedInSessionAgent(rawBody: unknown): string | null {
  return unsupportedInLists(fieldOf(rawBody, 'agent'), 'agent.');
}

export function unsupportedInEnvironment(body: CreateEnvironmentBody | UpdateEnvironmentBody): string | null {
  if (body.config?.type === 'self_hosted') return 'config.type: self-hosted environments are not supported yet';
  const packages = Object.entries(body.config?.packages ?? {});
  const wanted = packages.find(([, list]) => Array.isArray(list) && list.length > 0);
  return wanted ? `config.packages.${wanted[0]}: installing packages is not supported yet` : null;
}

export function unsupportedInSession(body: CreateSessionBody): string | null {
  if (isUsed(body.vault_ids)) return 'vault_ids: vaults are not supported yet';
  if (isUsed(body.resources)) return 'resources: session resources are not supported yet';
  return unsupportedInEvents(body.initial_events ?? [], 'initial_events');
}

/** `field` is the body's name for the list, for the message. */
export function unsupportedInEvents(events: readonly EventParams[], field: string = 'events'): string | null {
  for (const [index, event] of events.entries()) {
    const path = `${field}.${index}`;
    if (event.type === 'user.define_outcome')
      return `${path}.type: outcomes (user.define_outcome) are not supported yet`;
    const content = 'content' in event ? (event.content ?? []) : [];
    const block = content.findIndex(
      (one) => 'source' in one && typeof one.source === 'object' && one.source.type === 'file',
    );
    if (block >= 0) return `${path}.content.${block}.source: content from uploaded files is not supported yet`;
  }
  return null;
}

function unsupportedInLists(agent: unknown, prefix: string): string | null {
  if (isUsed(fieldOf(agent, 'mcp_servers'))) return `${prefix}mcp_servers: MCP servers are not supported yet`;
  const tools = fieldOf(agent, 'tools');
  const toolset = Array.isArray(tools) ? tools.findIndex((tool) => fieldOf(tool, 'type') === 'mcp_toolset') : -1;
  if (toolset >= 0) return `${prefix}tools.${toolset}.type: MCP toolsets are not supported yet`;
  if (isUsed(fieldOf(agent, 'skills'))) return `${prefix}skills: skills are not supported yet`;
  return null;
}

function isUsed(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}

function fieldOf(json: unknown, name: string): unknown {
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>)[name] : undefined;
}
