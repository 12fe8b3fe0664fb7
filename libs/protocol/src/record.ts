/**
 * What is written down: every kind of record, and for each kind which fields are facets and which are payload.
 *
 * - *Facets* stand in the clear: all that accept, evolve and lists need (ids, statuses, counts, positions). A commit's
 *   facets take at most 64 KiB.
 * - *Payload* is encrypted with a data key of the stream and read only when somebody asks. `evolve` never sees it. Its
 *   fields named in `spillableFields` may be moved to the blob store when a commit would be too large (L10).
 *
 * A kind that is also a public event carries the wire's own name. A public event whose content stands in another record
 * (`agent.message` in the `model.response` before it) names that record's seq instead of repeating the content.
 */
import type {
  AgentId,
  Brand,
  CommitId,
  EnvironmentId,
  Epoch,
  EventId,
  Incarnation,
  Instant,
  Seq,
  SessionId,
  StreamId,
  ThreadId,
  WorkspaceId,
} from './ids.ts';
import type { AgentConfig } from './http/agents.ts';
import type { EnvironmentSettings } from './http/environments.ts';
import type { SessionAgent } from './http/sessions.ts';
import type {
  BuiltinToolName,
  MessageContent,
  SessionErrorType,
  SystemContent,
  ToolResultContent,
} from './session-event.ts';

/** Money in millionths of a US cent, an integer: exact to about 90 million dollars. */
export type Microcents = Brand<number, 'Microcents'>;

/** Tokens of one model request, or of many added up. */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadInputTokens: number;
  cacheCreation5mInputTokens: number;
  cacheCreation1hInputTokens: number;
}

/** Cumulative use of a session, as its `session.usage` event and its object show it. */
export interface UsageTotals extends TokenUsage {
  webSearchRequests: number;
  /** Time in which the session was running, in milliseconds. */
  activeMs: number;
  /** List cost of tokens, searches and running time. */
  cost: Microcents;
}

export type StopReasonFacet =
  | { type: 'end_turn' }
  | { type: 'requires_action'; eventIds: EventId[] }
  | { type: 'retries_exhausted' }
  | { type: 'budget_reached' }
  | { type: 'refusal' };

export type Permission = 'allow' | 'ask' | 'deny';
export type PolicyName = 'always_allow' | 'always_ask' | 'auto';

/** Why a tool call was answered by the platform and not by its tool; the text is made from this when it is read. */
export type ResultCause =
  'interrupted' | 'not_enabled' | 'denied_by_user' | 'cut_off' | 'invalid_input' | 'retries_exhausted' | 'sandbox_lost';

export type RetryStatus = 'retrying' | 'exhausted' | 'terminal';

/** The provider's raw content block, kept byte for byte so that the prompt cache stays warm. */
export type ModelBlock = { type: string } & Record<string, unknown>;

interface Shape<Facets, Payload = null> {
  facets: Facets;
  payload: Payload;
}
type None = Record<never, never>;

/** Where a resource that a command leaned on stood when it was read. */
export interface SourcePosition {
  streamId: StreamId;
  seq: Seq;
}

/** Records of a workspace's resource stream. */
export interface ResourceRecords {
  'agent.created': Shape<{ agentId: AgentId; version: number }, { agent: AgentConfig }>;
  'agent.updated': Shape<{ agentId: AgentId; version: number }, { agent: AgentConfig }>;
  'agent.archived': Shape<{ agentId: AgentId }>;
  'environment.created': Shape<
    { environmentId: EnvironmentId; nameHash: string },
    { environment: EnvironmentSettings }
  >;
  'environment.updated': Shape<
    { environmentId: EnvironmentId; nameHash: string },
    { environment: EnvironmentSettings }
  >;
  'environment.archived': Shape<{ environmentId: EnvironmentId }>;
  'environment.deleted': Shape<{ environmentId: EnvironmentId }>;
}

/** Records of a session's stream. */
export interface SessionRecords {
  // The session's life
  'session.created': Shape<
    {
      sessionId: SessionId;
      workspaceId: WorkspaceId;
      agentId: AgentId;
      agentVersion: number;
      environmentId: EnvironmentId;
      /** The primary thread. */
      threadId: ThreadId;
      budgetCents: number | null;
      /** The model's id, for its profile. */
      model: string;
      /** Size of system prompt and tools in characters, for estimates. */
      agentChars: number;
      sources: SourcePosition[];
    },
    {
      title: string | null;
      metadata: Record<string, string>;
      agent: SessionAgent;
      /** The environment as it stood at creation, for a session that outlives it. */
      environment: EnvironmentSettings;
    }
  >;
  'session.updated': Shape<
    { changed: ('title' | 'metadata' | 'agent' | 'budget')[]; budgetCents?: number | null; agentChars?: number },
    { title?: string | null; metadata?: Record<string, string>; agent?: SessionAgent }
  >;
  'session.deleted': Shape<None>;
  'session.erased': Shape<None>;
  'session.status_running': Shape<None>;
  'session.status_idle': Shape<
    { stopReason: StopReasonFacet },
    { stopDetails: { category: string | null; explanation: string | null } } | null
  >;
  'session.status_rescheduled': Shape<None>;
  'session.status_terminated': Shape<{ cause: 'archived' | 'error' }>;
  'session.thread_status_running': Shape<{ threadId: ThreadId }>;
  'session.thread_status_idle': Shape<
    { threadId: ThreadId; stopReason: StopReasonFacet },
    { stopDetails: { category: string | null; explanation: string | null } } | null
  >;
  'session.thread_status_rescheduled': Shape<{ threadId: ThreadId; retryAt: Instant }>;
  'session.thread_status_terminated': Shape<{ threadId: ThreadId }>;
  'session.usage': Shape<{ usage: UsageTotals; budgetCents: number | null }>;
  'session.error': Shape<{ errorType: SessionErrorType; retryStatus: RetryStatus }, { message: string }>;

  // What clients send. `chars` is the content's size, for estimates.
  // `placed: false` waits for an `input.taken` or `input.dropped` that gives it its place.
  'user.message': Shape<{ placed: boolean; chars: number }, { content: MessageContent[] }>;
  'system.message': Shape<{ placed: boolean; chars: number }, { content: SystemContent[] }>;
  /** `ignored`: accepted at a budget's cap, without effect and not listed. */
  'user.interrupt': Shape<{ placed: boolean; ignored?: true; sessionThreadId?: ThreadId }>;
  'user.tool_confirmation': Shape<
    { toolUseId: EventId; result: 'allow' | 'deny' },
    { denyMessage: string | null } | null
  >;
  /** `cause` is set when the platform, not the client, answered the call; then there is no payload. */
  'user.custom_tool_result': Shape<
    { toolUseId: EventId; chars: number; isError?: boolean; cause?: ResultCause },
    { content?: ToolResultContent[] } | null
  >;

  // What the agent did
  'agent.message': Shape<{ responseSeq: Seq; blocks: number[] }>;
  'agent.thinking': Shape<None>;
  'agent.tool_use': Shape<{
    responseSeq: Seq;
    block: number;
    /** The model's own id of the call. */
    callId: string;
    /** null: a name the agent does not have. */
    tool: BuiltinToolName | null;
    permission: Permission;
    policy: PolicyName | null;
  }>;
  'agent.custom_tool_use': Shape<{ responseSeq: Seq; block: number; callId: string }>;
  'agent.tool_result': Shape<
    { toolUseId: EventId; chars: number; isError: boolean; cause?: ResultCause; confirmationSeq?: Seq },
    { content: ToolResultContent[] } | null
  >;
  'agent.thread_context_compacted': Shape<None>;
  'span.model_request_start': Shape<{
    purpose: 'turn' | 'compaction';
    estimatedInputTokens: number;
    estimatedCost: Microcents;
  }>;
  'span.model_request_end': Shape<{
    startId: EventId;
    isError: boolean;
    usage: TokenUsage;
    cost: Microcents;
    /** The provider refused the prompt as longer than the model's window. */
    tooLong?: true;
  }>;

  // Internal
  'model.response': Shape<
    {
      startId: EventId;
      stopReason: ModelStopReason;
      /** Tokens of the prompt and of this answer together. */
      contextTokens: number;
    },
    { blocks: ModelBlock[] }
  >;
  'input.taken': Shape<{ seqs: Seq[] }>;
  'input.dropped': Shape<{ seqs: Seq[] }>;
  'lease.taken': Shape<{ incarnation: Incarnation }>;
  'lease.released': Shape<None>;
  'hand.provisioned': Shape<{ hand: string; generation: number }>;
  'hand.lost': Shape<{ hand: string; generation: number }>;
  'hand.checkpointed': Shape<{ hand: string; generation: number }>;
  'hand.destroyed': Shape<{ hand: string; generation: number }>;
  /** Tool results before this seq are shown to the model shortened. */
  'context.trimmed': Shape<{ throughSeq: Seq }>;
  /** The summary stands for every record up to this seq. */
  'context.compacted': Shape<{ throughSeq: Seq; summaryChars: number }, { summary: string }>;
}

export type ModelStopReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'stop_sequence' | 'pause_turn' | 'refusal';

export type RecordTypes = ResourceRecords & SessionRecords;
export type RecordKind = keyof RecordTypes;
export type SessionRecordKind = keyof SessionRecords;
export type ResourceRecordKind = keyof ResourceRecords;

/** Marks the first record of a command that came with an `Idempotency-Key`: hashes, never the key. */
export interface IdempotencyMark {
  key: string;
  body: string;
}

/** A record that is about to be written: no seq and no time yet. */
export type RecordDraft<K extends RecordKind = RecordKind> = {
  [P in K]: {
    kind: P;
    id: EventId;
    threadId?: ThreadId;
    facets: RecordTypes[P]['facets'];
    payload: RecordTypes[P]['payload'];
    idempotency?: IdempotencyMark;
  };
}[K];

/** A record as the fold sees it: placed in its stream, without payload. */
export type FoldRecord<K extends RecordKind = RecordKind> = {
  [P in K]: {
    kind: P;
    id: EventId;
    threadId: ThreadId | null;
    seq: Seq;
    time: Instant;
    facets: RecordTypes[P]['facets'];
  };
}[K];

/** A record with its payload in the clear. */
export type LogRecord<K extends RecordKind = RecordKind> = {
  [P in K]: FoldRecord<P> & { streamId: StreamId; payload: RecordTypes[P]['payload'] };
}[K];

export type ToolCallRecord = FoldRecord<'agent.tool_use' | 'agent.custom_tool_use'>;
export type SessionDraft = RecordDraft<SessionRecordKind>;
export type SessionFoldRecord = FoldRecord<SessionRecordKind>;
export type SessionLogRecord = LogRecord<SessionRecordKind>;
export type ResourceDraft = RecordDraft<ResourceRecordKind>;
export type ResourceFoldRecord = FoldRecord<ResourceRecordKind>;

/** Payload fields that may be moved to the blob store, largest first, until their commit fits (L10). */
export const spillableFields: { readonly [K in RecordKind]?: readonly string[] } = {
  'agent.created': ['agent'],
  'agent.updated': ['agent'],
  'environment.created': ['environment'],
  'environment.updated': ['environment'],
  'session.created': ['agent', 'environment', 'metadata'],
  'session.updated': ['agent', 'metadata'],
  'user.message': ['content'],
  'system.message': ['content'],
  'user.tool_confirmation': ['denyMessage'],
  'user.custom_tool_result': ['content'],
  'agent.tool_result': ['content'],
  'model.response': ['blocks'],
  'session.error': ['message'],
  'context.compacted': ['summary'],
};

/** Kinds that clients see as events; everything else is internal and never listed. */
export const publicKinds: ReadonlySet<RecordKind> = new Set<RecordKind>([
  'user.message',
  'system.message',
  'user.interrupt',
  'user.tool_confirmation',
  'user.custom_tool_result',
  'agent.message',
  'agent.thinking',
  'agent.tool_use',
  'agent.custom_tool_use',
  'agent.tool_result',
  'agent.thread_context_compacted',
  'session.updated',
  'session.deleted',
  'session.status_running',
  'session.status_idle',
  'session.status_rescheduled',
  'session.status_terminated',
  'session.thread_status_running',
  'session.thread_status_idle',
  'session.thread_status_rescheduled',
  'session.thread_status_terminated',
  'session.usage',
  'session.error',
  'span.model_request_start',
  'span.model_request_end',
]);

/** The version of the folds in this build; a record may demand a newer one (L13). */
export const foldVersion = 1;

export type { CommitId, Epoch };
