/**
 * Tails the partitions of the commit topics and folds them into the copy, one transaction per batch. Whoever waits
 * (writers for their verdicts, barriers, tails, the harness) is told after the transaction.
 *
 * L6. Positions are stored with the records.
 * L7. At every start and after every interruption the last folded message is read again and must be the same, and the
 *     partition must begin at 0; else that partition stops and says so.
 */
import {
  TopicError,
  type Clock,
  type Logger,
  type Topic,
  type TopicMessage,
  type TopicPartition,
} from '@manyhands/ports';
import type { CommitId, Offset } from '@manyhands/protocol';
import type { Copy } from '../copy/copy.ts';
import type { PositionRow } from '../copy/position-rows.ts';
import type { StreamRow } from '../copy/stream-rows.ts';
import type { SessionLogCounters } from '../counters.ts';
import type { Fold, FoldEffects, FoldVerdict } from './fold.ts';
import { markOf } from './mark.ts';
import { nameOf, Positions } from './positions.ts';

export interface ReplicaOptions {
  topic: Topic;
  clock: Clock;
  logger: Logger;
  copy: Copy;
  fold: Fold;
  partitions: readonly TopicPartition[];
  counters: SessionLogCounters;
  onEffects: (effects: FoldEffects) => void;
}

/** A transaction is closed after this time, so that folding a long backlog never holds the thread for long. */
const maxTransactionMs = 12;
const retryMs = 250;

export class Replica {
  readonly positions = new Positions();
  readonly #options: ReplicaOptions;
  readonly #marks = new Map<string, PositionRow>();
  readonly #stopped = new Map<string, string>();
  readonly #verdicts = new Map<CommitId, (verdict: FoldVerdict) => void>();
  readonly #abort = new AbortController();
  readonly #checked = Promise.withResolvers<void>();
  #damage: string | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#loadPositions();
  }

  /** Resolves when it is known which partitions may be folded (L7). */
  start(): Promise<void> {
    this.#running = this.#run();
    return this.#checked.promise;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    this.#checked.resolve();
    await this.#running;
  }

  /** Why a partition is not folded any more; null while it is. */
  stoppedBecause(partition: TopicPartition): string | null {
    return this.#stopped.get(nameOf(partition)) ?? null;
  }

  /** Why some of the log cannot be folded, and will not be either when this is tried again; null while all of it can. */
  damage(): string | null {
    return this.#damage;
  }

  /** Calls back with the verdict on a commit when it is folded; answers the way to stop waiting. */
  onVerdict(commitId: CommitId, listener: (verdict: FoldVerdict) => void): () => void {
    this.#verdicts.set(commitId, listener);
    return () => this.#verdicts.delete(commitId);
  }

  /** Folds a stream again whose rows another build made (L6). */
  refold(row: StreamRow): void {
    const { copy, fold } = this.#options;
    const effects = copy.transaction(() => {
      fold.refold(row);
      return fold.flush();
    });
    this.#announce(effects, []);
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      try {
        await this.#checkIdentity();
        this.#checked.resolve();
        await this.#tail();
      } catch (cause) {
        if (signal.aborted) return;
        // What memory knows may be ahead of the copy; the stored positions are where to go on.
        this.#options.fold.forget();
        this.#loadPositions();
        logger.error({ cause: String(cause) }, 'folding was interrupted and goes on from the stored positions');
        if (cause instanceof TopicError && !cause.retriable) {
          if (cause.code !== 'closed') this.#damage = cause.message;
          this.#stopAll(cause.message);
          this.#checked.resolve();
          return;
        }
      }
      await clock.sleep(retryMs, signal);
    }
  }

  async #tail(): Promise<void> {
    const { topic, partitions } = this.#options;
    const followed = partitions.filter((partition) => !this.#stopped.has(nameOf(partition)));
    const from = followed.map((partition) => ({ ...partition, offset: this.positions.get(partition) }));
    for await (const batch of topic.tail(from, this.#abort.signal)) await this.#batch(batch);
  }

  async #batch(batch: readonly TopicMessage[]): Promise<void> {
    let next = 0;
    while (next < batch.length && !this.#abort.signal.aborted) {
      next = this.#transaction(batch, next);
      // Requests are served between two transactions of a backlog.
      if (next < batch.length) await this.#options.clock.sleep(0);
    }
  }

  /** Folds messages from an index on until the time is up; answers where to go on. */
  #transaction(batch: readonly TopicMessage[], from: number): number {
    const { copy, fold, clock, counters } = this.#options;
    const began = clock.monotonicMs();
    const moved = new Map<string, PositionRow>();
    let next = from;
    const effects = copy.transaction(() => {
      do {
        const message = batch[next++] as TopicMessage;
        moved.set(nameOf(message), positionAfter(message, fold.message(message)));
      } while (next < batch.length && clock.monotonicMs() - began < maxTransactionMs);
      for (const row of moved.values()) copy.positions.save(row);
      return fold.flush();
    });
    counters.foldMsMax = Math.max(counters.foldMsMax, clock.monotonicMs() - began);
    for (const [name, row] of moved) this.#marks.set(name, row);
    this.#announce(effects, moved.values());
    return next;
  }

  #announce(effects: FoldEffects, moved: Iterable<PositionRow>): void {
    for (const { commitId, verdict } of effects.verdicts) {
      const listener = this.#verdicts.get(commitId);
      if (!listener) continue;
      this.#verdicts.delete(commitId);
      listener(verdict);
    }
    for (const { topic, partition, nextOffset } of moved) this.positions.set({ topic, partition, offset: nextOffset });
    this.#options.onEffects(effects);
  }

  #loadPositions(): void {
    for (const row of this.#options.copy.positions.all()) {
      this.#marks.set(nameOf(row), row);
      this.positions.set({ topic: row.topic, partition: row.partition, offset: row.nextOffset });
    }
  }

  async #checkIdentity(): Promise<void> {
    for (const partition of this.#options.partitions) {
      const problem = await this.#identityProblem(partition);
      if (problem === null) continue;
      this.#stopped.set(nameOf(partition), problem);
      this.#damage ??= `Partition ${nameOf(partition)} is not folded: ${problem}.`;
      this.#options.logger.error(
        { ...partition, problem },
        'the log is not the one this copy was folded from; the partition stops',
      );
    }
  }

  async #identityProblem(partition: TopicPartition): Promise<string | null> {
    const { topic } = this.#options;
    const start = await topic.startOffset(partition);
    if (start !== 0) return `the partition begins at ${start} and not at 0: its log was cut`;
    const known = this.#marks.get(nameOf(partition));
    if (!known) return null;
    const [message] = await topic.read({ ...partition, offset: known.lastOffset }, 1).catch(noneIfOutOfRange);
    if (!message || message.offset !== known.lastOffset) return `the last folded message (${known.lastOffset}) is gone`;
    return markOf(message) === known.lastMark
      ? null
      : `another message stands at ${known.lastOffset}: the log was replaced`;
  }

  #stopAll(reason: string): void {
    for (const partition of this.#options.partitions) this.#stopped.set(nameOf(partition), reason);
  }
}

function positionAfter(message: TopicMessage, mark: string): PositionRow {
  const { topic, partition, offset } = message;
  return { topic, partition, nextOffset: (offset + 1) as Offset, lastOffset: offset, lastMark: mark };
}

function noneIfOutOfRange(cause: unknown): TopicMessage[] {
  if (cause instanceof TopicError && cause.code === 'out-of-range') return [];
  throw cause;
}
