/**
 * Takes the messages of the commit topics in order and makes the copy of them. Everything happens inside the caller's
 * transaction; nothing here waits.
 *
 * L1. Acceptance looks at the envelope alone.
 * L4. The answer for a commit is its first copy's: a refused copy whose id stands at its expected place was accepted.
 * L12. A message that is no commit is refused and counted; a record that `evolve` cannot take breaks its own stream.
 * L13. A commit that demands a newer fold is kept, and its stream is not folded here any more.
 */
import { accept, emptyHead, placementOf, type SessionState, type TakeoverLimits } from '@manyhands/core';
import type { Logger, RunnableRow, TopicMessage } from '@manyhands/ports';
import { decodeCommit, isSessionStream, partitionOf, topicOf } from '@manyhands/protocol';
import type {
  Commit,
  CommitId,
  FoldRecord,
  Instant,
  ResourceFoldRecord,
  Seq,
  SessionFoldRecord,
  SessionId,
  StoredRecord,
  StreamId,
} from '@manyhands/protocol';
import type { Copy } from '../copy/copy.ts';
import { Visibility } from '../copy/copy-schema.ts';
import type { StreamRow } from '../copy/stream-rows.ts';
import type { SessionLogCounters } from '../counters.ts';
import { Lru } from '../lru.ts';
import { hashOf } from './mark.ts';
import { ResourceProjection } from './resource-projection.ts';
import { SessionProjection } from './session-projection.ts';

export type FoldVerdict =
  | { kind: 'accepted'; firstSeq: Seq; lastSeq: Seq; time: Instant }
  | { kind: 'conflict'; headSeq: Seq; epoch: StreamRow['epoch'] };

/** What a transaction changed, for those who wait outside. */
export interface FoldEffects {
  verdicts: { commitId: CommitId; verdict: FoldVerdict }[];
  /** Streams with new records. */
  streams: Set<StreamId>;
  runnable: RunnableRow[];
  deleted: StreamId[];
}

export interface FoldOptions {
  copy: Copy;
  foldVersion: number;
  takeover: TakeoverLimits;
  partitionsOf: (topic: TopicMessage['topic']) => number;
  counters: SessionLogCounters;
  logger: Logger;
}

/** Heads kept in memory. */
const hotStreams = 20_000;

export class Fold {
  readonly #options: FoldOptions;
  readonly #copy: Copy;
  readonly #sessions: SessionProjection;
  readonly #resources: ResourceProjection;
  readonly #rows = new Lru<StreamId, StreamRow>(hotStreams);
  readonly #dirty = new Map<StreamId, StreamRow>();
  #effects = noEffects();

  constructor(options: FoldOptions) {
    this.#options = options;
    this.#copy = options.copy;
    this.#sessions = new SessionProjection(options.copy, options.takeover, options.logger);
    this.#resources = new ResourceProjection(options.copy, options.logger);
  }

  /** Where a stream stands; null when it has no record. */
  stream(streamId: StreamId): StreamRow | null {
    const known = this.#dirty.get(streamId) ?? this.#rows.get(streamId);
    if (known) return known;
    const stored = this.#copy.streams.get(streamId);
    if (stored) this.#rows.set(streamId, stored);
    return stored;
  }

  /** The state of a session that is folded up to its head. */
  state(row: StreamRow): SessionState | null {
    return this.#sessions.state(row);
  }

  canFold(row: StreamRow): boolean {
    return row.minFold <= this.#options.foldVersion;
  }

  isOutdated(row: StreamRow): boolean {
    return row.fold !== this.#options.foldVersion && this.canFold(row);
  }

  /** Takes one message; answers its mark. */
  message(message: TopicMessage): string {
    const commit = message.value ? decodeCommit(message.value) : null;
    if (!commit || !this.#belongs(commit, message)) {
      this.#options.counters.refusedMessages++;
      this.#options.logger.warn(
        { topic: message.topic, partition: message.partition, offset: message.offset },
        'a message is no commit of a known format and is refused',
      );
      return hashOf(message.value);
    }
    this.#commit(commit, message.appendedAt);
    return commit.commitId;
  }

  /** Writes what the messages since the last flush changed. */
  flush(): FoldEffects {
    for (const [streamId, row] of this.#dirty) {
      this.#copy.streams.save(row);
      this.#rows.set(streamId, row);
    }
    this.#dirty.clear();
    this.#resources.flush();
    const effects = this.#effects;
    effects.runnable = this.#sessions.flush();
    this.#effects = noEffects();
    return effects;
  }

  /** After a transaction that did not hold. */
  forget(): void {
    this.#dirty.clear();
    this.#rows.clear();
    this.#sessions.forget();
    this.#resources.forget();
    this.#effects = noEffects();
  }

  /** Folds a stream again whose rows another build made (L6). */
  refold(row: StreamRow): void {
    const projection = isSessionStream(row.streamId) ? this.#sessions : this.#resources;
    // Of a deleted session only the end is left; nothing of its state is asked for.
    if (row.deletedAt === 0) this.#break(row, projection.refold(row));
    row.fold = this.#options.foldVersion;
    this.#touch(row);
  }

  #belongs(commit: Commit, message: TopicMessage): boolean {
    const { topic, partition } = message;
    return (
      topicOf(commit.streamId) === topic &&
      partitionOf(commit.streamId, this.#options.partitionsOf(topic)) === partition
    );
  }

  #commit(commit: Commit, appendedAt: Instant): void {
    const known = this.stream(commit.streamId);
    const verdict = accept(known ?? emptyHead, commit, appendedAt);
    if (!verdict.accepted) {
      this.#refused(commit, known);
      return;
    }
    const row = known ?? this.#copy.streams.create(commit.streamId, commit.workspaceId, this.#options.foldVersion);
    if (this.isOutdated(row)) this.refold(row);
    const { firstSeq } = verdict;
    const { seq: lastSeq, epoch, time } = verdict.head;
    row.minFold = Math.max(row.minFold, commit.minFold);
    commit.records.forEach((record, i) => {
      const seq = (firstSeq + i) as Seq;
      row.seq = seq;
      row.time = time;
      this.#record(row, commit, record, seq, time);
    });
    row.epoch = epoch;
    this.#touch(row);
    this.#remember(row, commit, firstSeq, lastSeq, time);
    this.#effects.streams.add(row.streamId);
    this.#effects.verdicts.push({ commitId: commit.commitId, verdict: { kind: 'accepted', firstSeq, lastSeq, time } });
    this.#options.counters.acceptedCommits++;
    this.#options.counters.foldedRecords += commit.records.length;
  }

  #refused(commit: Commit, row: StreamRow | null): void {
    const first = (commit.expectedSeq + 1) as Seq;
    const wasAccepted = row !== null && this.#copy.records.commitAt(row.id, first) === commit.commitId;
    this.#options.counters.refusedCommits++;
    // The first copy has answered its writer in this process; a writer that started since finds the records.
    if (wasAccepted) return;
    const verdict = {
      kind: 'conflict' as const,
      headSeq: row?.seq ?? emptyHead.seq,
      epoch: row?.epoch ?? emptyHead.epoch,
    };
    this.#effects.verdicts.push({ commitId: commit.commitId, verdict });
  }

  #record(row: StreamRow, commit: Commit, stored: StoredRecord, seq: Seq, time: Instant): void {
    const { id, kind, facets } = stored;
    const thread = stored.threadId ?? null;
    const record = { kind, id, threadId: thread, seq, time, facets } as FoldRecord;
    this.#copy.records.insert(row.id, seq, {
      id,
      kind,
      thread,
      time,
      visibility: visibilityOf(record),
      commitId: seq === commit.expectedSeq + 1 ? commit.commitId : null,
      keyId: stored.payload === undefined ? null : commit.keyId,
      facets: JSON.stringify(facets),
      payload: stored.payload === undefined ? null : Buffer.from(stored.payload, 'base64'),
    });
    this.#project(row, record);
    if (kind === 'session.deleted') this.#deleted(row, commit, seq);
    if (kind === 'session.erased') this.#copy.sessions.removeErasure(row.id);
  }

  #project(row: StreamRow, record: FoldRecord): void {
    if (row.brokenAt !== 0) return;
    if (!this.canFold(row)) {
      this.#sessions.drop(row);
      return;
    }
    const isTaken = isSessionStream(row.streamId)
      ? this.#sessions.evolve(row, record as SessionFoldRecord)
      : this.#resources.evolve(row, record as ResourceFoldRecord);
    if (!isTaken) this.#break(row, record.seq);
  }

  #break(row: StreamRow, seq: Seq): void {
    row.brokenAt = seq;
    if (seq === 0) return;
    this.#sessions.drop(row);
    this.#options.counters.brokenStreams++;
  }

  #deleted(row: StreamRow, commit: Commit, seq: Seq): void {
    row.deletedAt = seq;
    this.#copy.records.eraseBefore(row.id, seq);
    this.#copy.idempotency.clear(row.id);
    const sessionId = row.streamId as string as SessionId;
    this.#copy.sessions.addErasure({ stream: row.id, sessionId, workspaceId: commit.workspaceId });
    this.#copy.sessions.removeLine(row.id);
    this.#effects.deleted.push(row.streamId);
  }

  #remember(row: StreamRow, commit: Commit, firstSeq: Seq, lastSeq: Seq, time: Instant): void {
    if (row.deletedAt !== 0) return;
    for (const { idempotency } of commit.records) {
      if (idempotency) this.#copy.idempotency.save(row.id, idempotency, firstSeq, lastSeq, time);
    }
  }

  #touch(row: StreamRow): void {
    this.#dirty.set(row.streamId, row);
  }
}

function noEffects(): FoldEffects {
  return { verdicts: [], streams: new Set(), runnable: [], deleted: [] };
}

function visibilityOf(record: FoldRecord): Visibility {
  const placement = placementOf(record as SessionFoldRecord);
  if (placement.kind === 'queued') return Visibility.waiting;
  if (placement.kind === 'internal') return Visibility.internal;
  if (!Array.isArray(placement.seqs)) return Visibility.internal;
  return placement.seqs.length === 1 && placement.seqs[0] === record.seq ? Visibility.placed : Visibility.places;
}
