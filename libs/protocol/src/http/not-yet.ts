/**
 * What the schemas know and this server does not do yet. Each function gives a message for the first such thing that is
 * really used, or null; an empty list or null asks for nothing. A phase that brings one of them deletes it here.
 */
import type { CreateAgentBody, UpdateAgentBody } from './agents.ts';
import type { CreateEnvironmentBody, UpdateEnvironmentBody } from './environments.ts';
import type { EventParams } from './events.ts';
import type { CreateSessionBody, UpdateSessionBody } from './sessions.ts';

interface AgentLists {
  /** Of a session's reference to an agent. */
  type?: string;
  tools?: readonly { type: string }[] | null;
  mcp_servers?: readonly unknown[] | null;
  skills?: readonly unknown[] | null;
}

export function unsupportedInAgent(body: CreateAgentBody | UpdateAgentBody): string | null {
  if (body.multiagent != null) return 'multiagent: multi-agent sessions are not supported yet';
  return unsupportedInLists(body, '');
}

export function unsupportedInEnvironment(body: CreateEnvironmentBody | UpdateEnvironmentBody): string | null {
  if (body.config?.type === 'self_hosted') return 'config.type: self-hosted environments are not supported yet';
  const packages = Object.entries(body.config?.packages ?? {});
  const wanted = packages.find(([, list]) => Array.isArray(list) && list.length > 0);
  return wanted ? `config.packages.${wanted[0]}: installing packages is not supported yet` : null;
}

export function unsupportedInSession(body: CreateSessionBody | UpdateSessionBody): string | null {
  const lists: AgentLists | string | undefined = body.agent;
  const inAgent = typeof lists === 'object' ? unsupportedInLists(lists, 'agent.') : null;
  if (inAgent !== null) return inAgent;
  if (!('environment_id' in body)) return null;
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

function unsupportedInLists(lists: AgentLists, prefix: string): string | null {
  if (isUsed(lists.mcp_servers)) return `${prefix}mcp_servers: MCP servers are not supported yet`;
  const toolset = (lists.tools ?? []).findIndex((tool) => tool.type === 'mcp_toolset');
  if (toolset >= 0) return `${prefix}tools.${toolset}.type: MCP toolsets are not supported yet`;
  if (isUsed(lists.skills)) return `${prefix}skills: skills are not supported yet`;
  return null;
}

function isUsed(list: readonly unknown[] | null | undefined): boolean {
  return list != null && list.length > 0;
}
