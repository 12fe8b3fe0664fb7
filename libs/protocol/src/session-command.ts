/**
 * What a client wishes, as the session-log service takes it: parsed at the rim, references resolved, ids chosen.
 * A command may be refused; what it does is decided beside the state of its stream.
 */
import type { AgentId, EnvironmentId, EventId, SessionId, ThreadId, WorkspaceId } from './ids.ts';
import type { IdempotencyMark, SourcePosition } from './record.ts';
import type { AgentConfig, UpdateAgentBody } from './http/agents.ts';
import type { EnvironmentSettings, UpdateEnvironmentBody } from './http/environments.ts';
import type { SessionAgent } from './http/sessions.ts';
import type { ErrorCode } from './error-codes.ts';
import type { MessageContent, SystemContent, ToolResultContent } from './session-event.ts';

interface CommandBase {
  workspaceId: WorkspaceId;
  /** Hashes of the client's `Idempotency-Key` and body. */
  idempotency: IdempotencyMark | null;
}

export interface CreateAgent extends CommandBase {
  type: 'create-agent';
  agentId: AgentId;
  config: AgentConfig;
}
export interface UpdateAgent extends CommandBase {
  type: 'update-agent';
  agentId: AgentId;
  body: UpdateAgentBody;
}
export interface ArchiveAgent extends CommandBase {
  type: 'archive-agent';
  agentId: AgentId;
}
export interface CreateEnvironment extends CommandBase {
  type: 'create-environment';
  environmentId: EnvironmentId;
  settings: EnvironmentSettings;
}
export interface UpdateEnvironment extends CommandBase {
  type: 'update-environment';
  environmentId: EnvironmentId;
  body: UpdateEnvironmentBody;
}
export interface ArchiveEnvironment extends CommandBase {
  type: 'archive-environment';
  environmentId: EnvironmentId;
}
export interface DeleteEnvironment extends CommandBase {
  type: 'delete-environment';
  environmentId: EnvironmentId;
}

/** A client event with its content; tool ids are event ids. */
export type ClientEvent =
  | { type: 'user.message'; content: MessageContent[] }
  | { type: 'system.message'; content: SystemContent[] }
  | { type: 'user.interrupt'; sessionThreadId: ThreadId | null }
  | { type: 'user.tool_confirmation'; toolUseId: EventId; result: 'allow' | 'deny'; denyMessage: string | null }
  | {
      type: 'user.custom_tool_result';
      toolUseId: EventId;
      isError: boolean | undefined;
      content: ToolResultContent[] | undefined;
    };

export interface CreateSession extends CommandBase {
  type: 'create-session';
  sessionId: SessionId;
  title: string | null;
  metadata: Record<string, string>;
  /** Snapshots, resolved by the caller behind the barrier (L11). */
  agent: SessionAgent;
  environmentId: EnvironmentId;
  environment: EnvironmentSettings;
  sources: SourcePosition[];
  budgetCents: number | null;
  initialEvents: ClientEvent[];
}
export interface UpdateSession extends CommandBase {
  type: 'update-session';
  sessionId: SessionId;
  title?: string | null;
  /** Per-key patch: null deletes. */
  metadata?: Record<string, string | null>;
  /** Full replacement lists of the session's own agent snapshot. */
  agent?: { tools?: SessionAgent['tools']; mcpServers?: SessionAgent['mcp_servers'] };
  /** null removes the budget. */
  budgetCents?: number | null;
}
export interface SendEvents extends CommandBase {
  type: 'send-events';
  sessionId: SessionId;
  events: ClientEvent[];
}
export interface ArchiveSession extends CommandBase {
  type: 'archive-session';
  sessionId: SessionId;
}
export interface DeleteSession extends CommandBase {
  type: 'delete-session';
  sessionId: SessionId;
}

export type ResourceCommand =
  | CreateAgent
  | UpdateAgent
  | ArchiveAgent
  | CreateEnvironment
  | UpdateEnvironment
  | ArchiveEnvironment
  | DeleteEnvironment;
export type SessionCommand = CreateSession | UpdateSession | SendEvents | ArchiveSession | DeleteSession;
export type Command = ResourceCommand | SessionCommand;

/** A command that may not be carried out: a stable code and a text for the client. */
export interface Refusal {
  code: ErrorCode;
  message: string;
}
