import type { SessionState } from '@manyhands/core';
import type {
  Agent,
  AgentId,
  Command,
  Environment,
  EnvironmentId,
  Epoch,
  Incarnation,
  Instant,
  LogRecord,
  RecordKind,
  Refusal,
  Seq,
  Session,
  SessionDraft,
  SessionEvent,
  SessionId,
  SessionThread,
  StreamId,
  WorkspaceId,
} from '@manyhands/protocol';

/** What a lease holder appends. Its epoch is the lease's and never adopted from a conflict. */
export interface HolderCommit {
  sessionId: SessionId;
  workspaceId: WorkspaceId;
  epoch: Epoch;
  expectedSeq: Seq;
  records: readonly SessionDraft[];
}

export type AppendResult =
  { kind: 'accepted'; firstSeq: Seq; lastSeq: Seq; time: Instant } | { kind: 'conflict'; headSeq: Seq; epoch: Epoch };

export type CommandOutcome =
  /** `lastSeq < firstSeq` when there was nothing to write. `repeated`: an earlier command with the same key did it. */
  { kind: 'done'; firstSeq: Seq; lastSeq: Seq; repeated: boolean } | { kind: 'refused'; refusal: Refusal };

export interface EventSlice {
  /** Only records after this seq; default 0. */
  after?: Seq;
  /** Only records up to and with this seq. */
  upTo?: Seq;
  kinds?: readonly RecordKind[];
  order?: 'asc' | 'desc';
  /** At most this many; default 1,000. */
  limit?: number;
}

export interface EventPage {
  records: LogRecord[];
  /** False when a limit of count or size (8 MiB) cut the page. */
  complete: boolean;
}

/** A session that wants the brain. */
export interface RunnableRow {
  sessionId: SessionId;
  /** Who holds its lease; null when nobody does. */
  holder: Incarnation | null;
  /** Not to be claimed before (retries, H6). */
  notBefore: Instant;
  barrenTakeovers: number;
}

/**
 * The session log, as harness workers use it.
 *
 * - `append` answers only after this service's own fold has taken the commit (or refused it); `conflict` is final. It
 *   throws `SessionLogError` when the outcome stays unknown for 60 s or the log is away.
 * - `getState` is the state at this replica's head, not behind the barrier: fine for whoever fences by epoch.
 * - `getEvents` returns records in order with payloads in the clear; pages are cut at 8 MiB. The same slice gives the
 *   same records for ever.
 * - `tail` yields every record after `after` without gaps (L5), then goes on; it ends when the signal aborts.
 * - `runnable` gives the oldest rows that are due at `dueAt`; `onRunnable` calls back after each fold that made a session
 *   runnable, and may miss none while the process lives.
 */
export interface SessionLog {
  append(commit: HolderCommit): Promise<AppendResult>;
  getState(sessionId: SessionId): Promise<SessionState | null>;
  getEvents(streamId: StreamId, slice: EventSlice): Promise<EventPage>;
  tail(streamId: StreamId, after: Seq, signal: AbortSignal): AsyncIterable<readonly LogRecord[]>;
  runnable(query: { dueAt: Instant; limit: number }): Promise<RunnableRow[]>;
  onRunnable(listener: (row: RunnableRow) => void): () => void;
}

/** Position of one delivery of a public event: the record that delivers it, and the how-manieth it delivers. */
export interface EventCursor {
  seq: Seq;
  n: number;
}

export interface Delivery {
  cursor: EventCursor;
  event: SessionEvent;
}

export interface EventQuery {
  order: 'asc' | 'desc';
  limit: number;
  /** Go on after this position of the public order. */
  after: EventCursor | null;
  types: readonly string[] | null;
  createdAt: TimeFilter;
}

/** Where a listed event stands, and when it was processed; null while it waits. */
export interface EventPosition {
  cursor: EventCursor;
  processedAt: Instant | null;
}

/** A page of events as it goes over the wire: large ones are read and written out beside the thread that serves. */
export interface EventsPage {
  /** The events in the query's order, as one JSON list. The memory is the receiver's own. */
  json: Uint8Array;
  positions: EventPosition[];
  hasMore: boolean;
}

export interface TimeFilter {
  gt?: Instant;
  gte?: Instant;
  lt?: Instant;
  lte?: Instant;
}

/** A position in a list by creation: time and id, never an offset. */
export interface ListCursor {
  createdAt: Instant;
  id: string;
}

export interface ListQuery {
  workspaceId: WorkspaceId;
  limit: number;
  order: 'asc' | 'desc';
  after: ListCursor | null;
  /** Walk against `order` (a previous page); items still come in `order`. */
  backwards?: boolean;
  createdAt: TimeFilter;
  includeArchived: boolean;
}

export interface SessionListQuery extends ListQuery {
  statuses: readonly SessionState['phase']['status'][] | null;
  agentId: AgentId | null;
  agentVersion: number | null;
}

export interface Listed<T> {
  items: { cursor: ListCursor; value: T }[];
  hasMore: boolean;
}

/** A resource and where its stream stood. */
export interface Positioned<T> {
  value: T;
  streamId: StreamId;
  seq: Seq;
}

/**
 * Commands and reads of the public API.
 *
 * - Every answer stands behind the barrier of L11, refusals included; going on with a tail does not.
 * - null: unknown, deleted, or of another workspace.
 * - A session's fields are the wire's own.
 */
export interface SessionService {
  execute(command: Command): Promise<CommandOutcome>;
  session(workspaceId: WorkspaceId, id: SessionId): Promise<Session | null>;
  /** The object as its create made it, for a repeated answer. */
  sessionAtCreate(workspaceId: WorkspaceId, id: SessionId): Promise<Session | null>;
  sessions(query: SessionListQuery): Promise<Listed<Session>>;
  thread(workspaceId: WorkspaceId, id: SessionId): Promise<SessionThread | null>;
  /** Events written by the records from `firstSeq` to `lastSeq`, as a POST answers them. */
  eventsOf(sessionId: SessionId, firstSeq: Seq, lastSeq: Seq): Promise<SessionEvent[]>;
  events(workspaceId: WorkspaceId, id: SessionId, query: EventQuery): Promise<EventsPage | null>;
  /**
   * Follows a session's deliveries after a cursor, or from now on (`'head'`: the position is taken before this
   * resolves). One empty batch says that everything up to the head at that moment has been yielded: before it lies
   * history, after it what happens. It ends by itself after `session.deleted`. null: no such session.
   */
  follow(
    workspaceId: WorkspaceId,
    id: SessionId,
    after: EventCursor | 'head',
    signal: AbortSignal,
  ): Promise<{ at: EventCursor; epoch: Epoch; deliveries: AsyncIterable<readonly Delivery[]> } | null>;
  agent(workspaceId: WorkspaceId, id: AgentId, version: number | null): Promise<Positioned<Agent> | null>;
  agents(query: ListQuery): Promise<Listed<Agent>>;
  /** Newest first; `before` is the version to go on below. */
  agentVersions(
    workspaceId: WorkspaceId,
    id: AgentId,
    query: { limit: number; before: number | null },
  ): Promise<{ items: Agent[]; hasMore: boolean } | null>;
  environment(workspaceId: WorkspaceId, id: EnvironmentId): Promise<Positioned<Environment> | null>;
  environments(query: ListQuery): Promise<Listed<Environment>>;
  /** Resolves with false while this service is not caught up. */
  ready(): boolean;
}

export type SessionLogErrorCode =
  /** Ask again later, or another replica (503). */
  | 'unavailable'
  /** The stream cannot be folded past a seq, or its key is gone (500). */
  | 'stream-broken'
  | 'key-missing'
  /** The service is going down. */
  | 'closed';

export class SessionLogError extends Error {
  readonly code: SessionLogErrorCode;
  readonly retriable: boolean;
  constructor(code: SessionLogErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'SessionLogError';
    this.code = code;
    this.retriable = code === 'unavailable';
  }
}
