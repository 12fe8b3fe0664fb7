/**
 * Appends a commit and answers with its verdict, which is this replica's own fold's.
 *
 * L4. The answer is the first copy's. While the outcome of a write is unknown the same bytes are sent again, for up to
 *     60 s; a commit whose place another one has taken is a conflict, for good. A commit of which surely nothing was
 *     written needs no such patience: its writer is told after 5 s.
 */
import { accept } from '@manyhands/core';
import { SessionLogError, TopicError, type AppendResult, type Clock, type Topic } from '@manyhands/ports';
import { formatId, partitionOf, topicOf } from '@manyhands/protocol';
import type { Commit, Epoch, RecordDraft, Seq, StreamId, WorkspaceId } from '@manyhands/protocol';
import type { SessionLogCounters } from '../counters.ts';
import type { Fold, FoldVerdict } from '../fold/fold.ts';
import type { Replica } from '../fold/replica.ts';
import type { DataKeys } from './data-keys.ts';
import type { GroupCommit } from './group-commit.ts';
import { sealCommit, type SealDeps } from './seal-commit.ts';

export interface Unsealed {
  streamId: StreamId;
  workspaceId: WorkspaceId;
  epoch: Epoch;
  expectedSeq: Seq;
  records: readonly RecordDraft[];
}

export interface AppenderOptions {
  topic: Topic;
  clock: Clock;
  fold: Fold;
  replica: Replica;
  keys: DataKeys;
  groups: GroupCommit;
  seal: SealDeps;
  counters: SessionLogCounters;
}

/** How long the outcome of a write may stay unknown before the writer is told so. */
const giveUpMs = 60_000;
/** How long a log that takes nothing, as on a full disk, is asked again. */
const refusedMs = 5_000;
const resendMs = 250;
/** A durable commit is folded at once unless the tail is being opened anew. */
const foldWaitMs = 2_000;

export class Appender {
  readonly #options: AppenderOptions;
  readonly #closing = new AbortController();

  constructor(options: AppenderOptions) {
    this.#options = options;
  }

  async append(unsealed: Unsealed): Promise<AppendResult> {
    const { clock, counters } = this.#options;
    const began = clock.monotonicMs();
    const result = this.#hopeless(unsealed) ?? (await this.#write(unsealed));
    const took = clock.monotonicMs() - began;
    counters.appends++;
    counters.appendMsTotal += took;
    counters.appendMsMax = Math.max(counters.appendMsMax, took);
    if (result.kind === 'conflict') counters.appendConflicts++;
    return result;
  }

  close(): void {
    this.#closing.abort();
  }

  /** A conflict that this replica can tell without writing: the place is taken, or the epoch is over. */
  #hopeless(unsealed: Unsealed): AppendResult | null {
    const row = this.#options.fold.stream(unsealed.streamId);
    if (!row || row.seq < unsealed.expectedSeq) return null;
    const verdict = accept(row, unsealed as unknown as Commit, row.time);
    return verdict.accepted ? null : { kind: 'conflict', headSeq: row.seq, epoch: row.epoch };
  }

  async #write(unsealed: Unsealed): Promise<AppendResult> {
    const { clock, keys, seal } = this.#options;
    const { records, ...place } = unsealed;
    const commitId = formatId('commit', clock.randomBytes(16));
    const isFirst = unsealed.expectedSeq === 0;
    const hasPayload = records.some((record) => record.payload !== null);
    const dataKey = hasPayload ? await keys.forWriting(unsealed.streamId, isFirst) : null;
    const bytes = await sealCommit({ ...place, commitId, at: clock.now() }, records, dataKey, seal);
    return this.#send(unsealed, commitId, bytes);
  }

  async #send(unsealed: Unsealed, commitId: Commit['commitId'], value: Uint8Array): Promise<AppendResult> {
    const { topic: topics, clock, replica, groups, counters } = this.#options;
    const topic = topicOf(unsealed.streamId);
    const partition = partitionOf(unsealed.streamId, topics.partitionsOf(topic));
    const verdict = Promise.withResolvers<FoldVerdict>();
    const forget = replica.onVerdict(commitId, verdict.resolve);
    const began = clock.monotonicMs();
    let isSurelyUnwritten = true;
    try {
      for (;;) {
        const failure = await groups
          .append({ topic, partition, key: unsealed.streamId, value })
          .catch((cause: unknown) => cause);
        const answer = await this.#wait(verdict.promise, failure === undefined ? foldWaitMs : resendMs);
        if (answer) return answer;
        if (failure instanceof TopicError && !failure.retriable) {
          throw new SessionLogError('unavailable', 'the log cannot be written', { cause: failure });
        }
        if (this.#closing.signal.aborted) throw new SessionLogError('closed', 'the session log is going down');
        isSurelyUnwritten &&= failure instanceof TopicError && failure.code === 'unavailable';
        const deadline = began + (isSurelyUnwritten ? refusedMs : giveUpMs);
        if (clock.monotonicMs() > deadline) {
          const what = isSurelyUnwritten ? 'the log cannot be written' : 'the outcome of a write is not known';
          throw new SessionLogError('unavailable', what, { cause: failure });
        }
        if (failure !== undefined) counters.resentBatches++;
        // A durable commit that is not folded yet needs time, not another copy; one more copy would be harmless (L4).
        if (failure === undefined) {
          const late = await this.#wait(verdict.promise, deadline - clock.monotonicMs());
          if (late) return late;
        }
      }
    } finally {
      forget();
    }
  }

  async #wait(verdict: Promise<FoldVerdict>, ms: number): Promise<FoldVerdict | null> {
    const timer = new AbortController();
    // A reason of our own: the default one costs a stack trace for every append.
    const stop = (): void => timer.abort(null);
    this.#closing.signal.addEventListener('abort', stop);
    const late = this.#options.clock.sleep(Math.max(0, ms), timer.signal).then(() => null);
    try {
      return await Promise.race([verdict, late]);
    } finally {
      stop();
      this.#closing.signal.removeEventListener('abort', stop);
    }
  }
}
