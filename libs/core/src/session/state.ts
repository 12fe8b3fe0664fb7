/**
 * What the fold knows of a session. Facets only: titles, prompts and contents stay encrypted in their records, and the
 * state says at which seq they stand.
 */
import type {
  AgentId,
  BuiltinToolName,
  EnvironmentId,
  Epoch,
  EventId,
  Incarnation,
  Instant,
  Microcents,
  Permission,
  Seq,
  SessionId,
  StopReasonFacet,
  ThreadId,
  UsageTotals,
  WorkspaceId,
} from '@manyhands/protocol';

export interface SessionState {
  sessionId: SessionId;
  workspaceId: WorkspaceId;
  seq: Seq;
  epoch: Epoch;
  /** Time of the last record. */
  time: Instant;
  createdAt: Instant;
  updatedAt: Instant;
  archivedAt: Instant | null;
  deletedAt: Instant | null;
  erased: boolean;
  agentId: AgentId;
  agentVersion: number;
  environmentId: EnvironmentId;
  /** The primary thread. */
  threadId: ThreadId;
  model: string;
  budgetCents: number | null;
  /** Where the contents of the session object stand. */
  contents: { titleSeq: Seq; metadataSeq: Seq; agentSeq: Seq };
  phase: Phase;
  /** Client events that wait for their place, oldest first. */
  queue: readonly QueuedInput[];
  lease: Lease | null;
  /** H6: claims over a lease that was not released and brought no result. */
  barrenTakeovers: number;
  usage: UsageTotals;
  /** Since when the running time is not yet in `usage`; null while nothing runs. */
  runningSince: Instant | null;
  /** Why the session was last idle; null until its first idle. */
  lastStop: StopReasonFacet | null;
  startedAt: Instant | null;
  hand: HandState | null;
  context: ContextState;
}

export type Phase =
  | { status: 'idle'; stopReason: StopReasonFacet | null; turn: Turn | null }
  | { status: 'running'; turn: Turn | null }
  | { status: 'rescheduling'; turn: Turn | null; retryAt: Instant }
  | { status: 'terminated' };

/** One turn: model requests and tool calls from taken inputs to the next idle. */
export interface Turn {
  request: OpenRequest | null;
  /** The calls of the last response. */
  calls: readonly ToolCall[];
  /** What follows when no request and no call is open. */
  next: 'model' | 'end' | 'refusal';
  /** Transient failures since the last response. */
  failures: number;
  /** Compactions tried since the last response. */
  compactions: number;
}

export interface OpenRequest {
  startId: EventId;
  startSeq: Seq;
  purpose: 'turn' | 'compaction';
  estimatedInputTokens: number;
  estimatedCost: Microcents;
}

export interface ToolCall {
  eventId: EventId;
  seq: Seq;
  /** `custom`: answered by the client. null: a name the agent does not have. */
  tool: BuiltinToolName | 'custom' | null;
  permission: Permission;
  confirmation: { result: 'allow' | 'deny'; seq: Seq } | null;
  answered: boolean;
}

export interface QueuedInput {
  seq: Seq;
  id: EventId;
  kind: 'user.message' | 'system.message' | 'user.interrupt';
  chars: number;
}

export interface Lease {
  incarnation: Incarnation;
  takenAt: Instant;
}

export interface HandState {
  hand: string;
  generation: number;
  status: 'provisioned' | 'lost' | 'checkpointed' | 'destroyed';
}

/** What the next prompt will hold, by size. */
export interface ContextState {
  /** Tokens of the last prompt and its answer, as the provider counted them. */
  tokens: number;
  /** Characters that the next prompt has beyond those. */
  charsSince: number;
  agentChars: number;
  /** Characters of tool results shown whole, before and after the last response. */
  olderResultChars: number;
  recentResultChars: number;
  lastResponseSeq: Seq;
  /** Results before this seq are shown shortened. */
  trimmedThrough: Seq;
  /** The summary stands for everything up to here; 0 when there is none. */
  compactedThrough: Seq;
  /** The `context.compacted` record, or 0. */
  summarySeq: Seq;
}
