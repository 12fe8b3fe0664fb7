/**
 * The session log: appends, commands, reads and tails over a topic. It composes the parts and keeps the rule of L11, that
 * every answer but an accepted append stands behind the barrier.
 */
import type { SessionState, TakeoverLimits } from '@manyhands/core';
import { defaultTakeoverLimits } from '@manyhands/core';
import { TopicError } from '@manyhands/ports';
import type {
  AppendResult,
  BlobStore,
  Clock,
  CommandOutcome,
  EventCursor,
  EventPage,
  EventQuery,
  EventSlice,
  HolderCommit,
  KeyService,
  ListQuery,
  Logger,
  RunnableRow,
  SessionListQuery,
  SessionLog,
  SessionService,
  Topic,
  TopicPartition,
} from '@manyhands/ports';
import {
  foldVersion,
  formatId,
  partitionOf,
  sessionStream,
  topicOf,
  topics,
  workspaceStream,
  type AgentId,
  type Command,
  type DefaultEffort,
  type EnvironmentId,
  type Instant,
  type LogRecord,
  type Seq,
  type SessionEvent,
  type SessionId,
  type StreamId,
  type WorkspaceId,
} from '@manyhands/protocol';
import { assemble, type SessionLogParts } from './assemble.ts';
import type { SessionLogCounters } from './counters.ts';
import type { FoldedSession } from './fold/states.ts';
import { behind } from './read/session-events.ts';

export interface SessionLogServiceOptions {
  topic: Topic;
  blobs: BlobStore;
  keys: KeyService;
  clock: Clock;
  logger: Logger;
  /** Where the local copies stand; `':memory:'` for both in a simulation. */
  copyPath: string;
  keysPath: string;
  /** Reader threads; 0 reads in line, which a copy in memory always does. */
  readerThreads: number;
  defaultEffort: DefaultEffort;
  takeover?: TakeoverLimits;
  /** Removes what a deleted session left in hands and live buffers; may be called again for the same session. */
  eraseElsewhere?: (sessionId: SessionId) => Promise<void>;
  /** For tests of L6 and L13: pretends to be another build. */
  foldVersion?: number;
}

const defaultSliceRecords = 1_000;
const startHead = { seq: 0 as Seq, n: 0 } satisfies EventCursor;

export class SessionLogService implements SessionLog, SessionService {
  readonly counters: SessionLogCounters;
  readonly #options: SessionLogServiceOptions;
  readonly #parts: SessionLogParts;
  #isReady = false;

  constructor(options: SessionLogServiceOptions) {
    this.#options = options;
    this.#parts = assemble({
      takeover: defaultTakeoverLimits,
      eraseElsewhere: async () => undefined,
      foldVersion,
      ...options,
      newId: () => formatId('event', options.clock.randomBytes(16)),
    });
    this.counters = this.#parts.counters;
  }

  /**
   * Resolves when this replica has folded everything that was durable when it was started. Throws `TopicError` `'damaged'`
   * when the log cannot be folded, however often it is tried.
   */
  async start(): Promise<void> {
    try {
      await this.#catchUp();
    } catch (cause) {
      const damage = this.#parts.replica.damage() ?? this.#parts.keyReplica.damage();
      throw damage === null ? cause : new TopicError('damaged', damage, { cause });
    }
    this.#parts.eraser.start();
    this.#isReady = true;
  }

  async stop(): Promise<void> {
    this.#isReady = false;
    const { appender, eraser, catchUp, replica, keyReplica, pool, copy, keyFile } = this.#parts;
    appender.close();
    await eraser.stop();
    await Promise.all([catchUp.stop(), replica.stop(), keyReplica.stop()]);
    await pool.close();
    copy.close();
    keyFile.close();
  }

  ready(): boolean {
    return this.#isReady;
  }

  // ---- SessionLog ----

  append(commit: HolderCommit): Promise<AppendResult> {
    const { sessionId, ...rest } = commit;
    return this.#parts.appender.append({ streamId: sessionStream(sessionId), ...rest });
  }

  async getState(sessionId: SessionId): Promise<SessionState | null> {
    return this.#parts.states.session(sessionStream(sessionId))?.state ?? null;
  }

  async getEvents(streamId: StreamId, slice: EventSlice): Promise<EventPage> {
    const row = await this.#rowFor(streamId, slice.upTo);
    if (!row) return { records: [], complete: true };
    return this.#parts.reader.records(row, {
      after: slice.after ?? (0 as Seq),
      upTo: slice.upTo === undefined ? row.seq : (Math.min(slice.upTo, row.seq) as Seq),
      kinds: slice.kinds ?? null,
      order: slice.order ?? 'asc',
      limit: slice.limit ?? defaultSliceRecords,
    });
  }

  tail(streamId: StreamId, after: Seq, signal: AbortSignal): AsyncIterable<readonly LogRecord[]> {
    return this.#parts.tails.records(streamId, after, signal);
  }

  async runnable(query: { dueAt: Instant; limit: number }): Promise<RunnableRow[]> {
    return this.#parts.copy.sessions.due(query.dueAt, query.limit);
  }

  onRunnable(listener: (row: RunnableRow) => void): () => void {
    return this.#parts.onRunnable(listener);
  }

  // ---- SessionService ----

  execute(command: Command): Promise<CommandOutcome> {
    return this.#parts.commands.execute(command);
  }

  async session(workspaceId: WorkspaceId, id: SessionId) {
    const session = await this.#session(workspaceId, id);
    return session && this.#parts.sessions.session(session);
  }

  async sessionAtCreate(workspaceId: WorkspaceId, id: SessionId) {
    const session = await this.#session(workspaceId, id);
    return session && this.#parts.sessions.atCreate(session);
  }

  async sessions(query: SessionListQuery) {
    await this.#parts.barrier.pass(this.#partitions(topics.sessions));
    return this.#parts.sessions.sessions(query);
  }

  async thread(workspaceId: WorkspaceId, id: SessionId) {
    const session = await this.#session(workspaceId, id);
    return session && this.#parts.sessions.thread(session);
  }

  async eventsOf(sessionId: SessionId, firstSeq: Seq, lastSeq: Seq): Promise<SessionEvent[]> {
    const row = await this.#rowFor(sessionStream(sessionId), lastSeq);
    return row && lastSeq >= firstSeq ? this.#parts.events.writtenBy(row, firstSeq, lastSeq) : [];
  }

  async events(workspaceId: WorkspaceId, id: SessionId, query: EventQuery) {
    const session = await this.#session(workspaceId, id);
    return session && this.#parts.events.page(session.row, session.state, query);
  }

  async follow(workspaceId: WorkspaceId, id: SessionId, after: EventCursor | 'head', signal: AbortSignal) {
    const session = await this.#session(workspaceId, id);
    if (!session) return null;
    const { row, state } = session;
    // A position that does not exist yet is another session's, or made up; what comes next must not be missed for it.
    const at = after === 'head' || after.seq > row.seq ? behind(row.seq, startHead) : after;
    return { at, epoch: state.epoch, deliveries: this.#parts.tails.deliveries(row, at, signal) };
  }

  async agent(workspaceId: WorkspaceId, id: AgentId, version: number | null) {
    await this.#passBarrier(workspaceStream(workspaceId));
    return this.#parts.resources.agent(workspaceId, id, version);
  }

  async agents(query: ListQuery) {
    await this.#passBarrier(workspaceStream(query.workspaceId));
    return this.#parts.resources.agents(query);
  }

  async agentVersions(workspaceId: WorkspaceId, id: AgentId, query: { limit: number; before: number | null }) {
    await this.#passBarrier(workspaceStream(workspaceId));
    return this.#parts.resources.agentVersions(workspaceId, id, query);
  }

  async environment(workspaceId: WorkspaceId, id: EnvironmentId) {
    await this.#passBarrier(workspaceStream(workspaceId));
    return this.#parts.resources.environment(workspaceId, id);
  }

  async environments(query: ListQuery) {
    await this.#passBarrier(workspaceStream(query.workspaceId));
    return this.#parts.resources.environments(query);
  }

  async #catchUp(): Promise<void> {
    const { replica, keyReplica, barrier, keyBarrier, catchUp } = this.#parts;
    keyReplica.start();
    await replica.start();
    await catchUp.run(async () => {
      await Promise.all([
        barrier.pass(this.#partitions(topics.sessions, topics.resources)),
        keyBarrier.pass(this.#partitions(topics.keys)),
      ]);
    });
  }

  // ---- the rule of L11 ----

  async #session(workspaceId: WorkspaceId, id: SessionId): Promise<FoldedSession | null> {
    await this.#passBarrier(sessionStream(id));
    const session = this.#parts.states.session(sessionStream(id));
    return session?.state.workspaceId === workspaceId ? session : null;
  }

  /** Records at or below a seq that is folded need no barrier: they never change. */
  async #rowFor(streamId: StreamId, upTo: Seq | undefined) {
    const known = this.#parts.fold.stream(streamId);
    if (!known || upTo === undefined || known.seq < upTo) await this.#passBarrier(streamId);
    const row = this.#parts.fold.stream(streamId);
    return row && { ...row };
  }

  #passBarrier(streamId: StreamId): Promise<void> {
    const topic = topicOf(streamId);
    return this.#parts.barrier.pass([
      { topic, partition: partitionOf(streamId, this.#options.topic.partitionsOf(topic)) },
    ]);
  }

  #partitions(...names: TopicPartition['topic'][]): TopicPartition[] {
    return names.flatMap((topic) =>
      Array.from({ length: this.#options.topic.partitionsOf(topic) }, (_, partition) => ({ topic, partition })),
    );
  }
}
