/**
 * L11. No stale answers: asks the topic where its partitions end, after the request came in, and waits until this replica
 * has folded that far.
 *
 * One question is in flight per partition leader; who comes while one is in flight waits for the next, which is asked
 * after they came.
 */
import { SessionLogError, type Clock, type Topic, type TopicPartition, type TopicPosition } from '@manyhands/ports';
import type { SessionLogCounters } from '../counters.ts';
import type { Positions } from './positions.ts';
import { nameOf } from './positions.ts';

export interface BarrierOptions {
  topic: Topic;
  clock: Clock;
  positions: Positions;
  counters: SessionLogCounters;
  /** Names the leader of a partition; without it all partitions have one. */
  leaderOf?: (partition: TopicPartition) => string;
  /** Why a partition is folded no more; null while it is. */
  stoppedBecause: (partition: TopicPartition) => string | null;
}

/** How long folding may take to come up with the end before the answer is 503. */
const maxWaitMs = 10_000;

interface Question {
  partitions: Map<string, TopicPartition>;
  answer: Promise<readonly TopicPosition[]>;
}

export class Barrier {
  readonly #options: BarrierOptions;
  readonly #asking = new Map<string, Promise<unknown>>();
  readonly #next = new Map<string, Question>();

  constructor(options: BarrierOptions) {
    this.#options = options;
  }

  /** Resolves when everything durable at the time of the call is folded here. Throws `unavailable` when that cannot be told. */
  async pass(partitions: readonly TopicPartition[]): Promise<void> {
    this.#options.counters.barriers++;
    this.#assertFolded(partitions);
    const byLeader = new Map<string, TopicPartition[]>();
    for (const partition of partitions) {
      const leader = this.#options.leaderOf?.(partition) ?? '';
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), partition]);
    }
    const ends = await Promise.all([...byLeader].map(([leader, wanted]) => this.#ask(leader, wanted)));
    await this.#reach(ends.flat());
  }

  async #ask(leader: string, wanted: readonly TopicPartition[]): Promise<TopicPosition[]> {
    const names = new Set(wanted.map(nameOf));
    let question = this.#next.get(leader);
    if (!question) {
      const partitions = new Map<string, TopicPartition>();
      question = { partitions, answer: this.#inTurn(leader, partitions) };
      this.#next.set(leader, question);
    }
    for (const partition of wanted) question.partitions.set(nameOf(partition), partition);
    const ends = await question.answer;
    return ends.filter((end) => names.has(nameOf(end)));
  }

  async #inTurn(leader: string, partitions: Map<string, TopicPartition>): Promise<readonly TopicPosition[]> {
    // Also without a question in flight it is asked only after the caller has said what it wants.
    await Promise.resolve(this.#asking.get(leader)).catch(() => undefined);
    this.#next.delete(leader);
    const asked = this.#options.topic.endOffsets([...partitions.values()]).catch((cause: unknown) => {
      throw new SessionLogError('unavailable', 'the log cannot be asked for its end', { cause });
    });
    this.#asking.set(leader, asked);
    return asked;
  }

  #assertFolded(partitions: readonly TopicPartition[]): void {
    for (const partition of partitions) {
      const reason = this.#options.stoppedBecause(partition);
      if (reason === null) continue;
      throw new SessionLogError('unavailable', `partition ${nameOf(partition)} is not folded: ${reason}`);
    }
  }

  async #reach(ends: readonly TopicPosition[]): Promise<void> {
    const { positions, clock, counters } = this.#options;
    counters.lag = ends.reduce((sum, end) => sum + Math.max(0, end.offset - positions.get(end)), 0);
    if (ends.every((end) => positions.get(end) >= end.offset)) return;
    const limit = new AbortController();
    const timer = new AbortController();
    void clock.sleep(maxWaitMs, timer.signal).then(() => limit.abort(null));
    const reached = await positions.reached(ends, limit.signal);
    timer.abort(null);
    this.#assertFolded(ends);
    if (!reached) throw new SessionLogError('unavailable', 'this replica is too far behind the log');
  }
}
