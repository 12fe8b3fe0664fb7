import { topics } from '@manyhands/protocol';
import type { TopicName } from '@manyhands/protocol';
import type { TopicPartition } from '@manyhands/ports';
import { partitionsIn } from './log-layout.ts';
import type { LogLayout, Retention } from './log-layout.ts';

export type PartitionCounts = Readonly<Record<TopicName, number>>;

const forEver: Retention = { kind: 'for-ever' };
const anHour: Retention = { kind: 'for-a-time', ms: 3_600_000 };

const retention: Record<TopicName, Retention> = {
  [topics.sessions]: forEver,
  [topics.resources]: forEver,
  [topics.keys]: { kind: 'latest-per-key' },
  [topics.wakes]: anHour,
  [topics.workers]: anHour,
};

/** Numbers the partitions of all topics, as the log's threads know them. */
export class PartitionIndex {
  readonly layout: LogLayout;
  readonly #counts: PartitionCounts;
  readonly #first = new Map<TopicName, number>();
  readonly #placed: readonly TopicPartition[];

  constructor(counts: PartitionCounts) {
    this.#counts = counts;
    const names = Object.values(topics);
    this.layout = names.map((topic) => ({ topic, partitions: counts[topic], retention: retention[topic] }));
    this.#placed = partitionsIn(this.layout).map(({ topic, partition }) => ({ topic: topic as TopicName, partition }));
    this.#placed.forEach(({ topic, partition }, number) => {
      if (partition === 0) this.#first.set(topic, number);
    });
  }

  partitionsOf(topic: TopicName): number {
    return this.#counts[topic];
  }

  keepsLatestPerKey(topic: TopicName): boolean {
    return retention[topic].kind === 'latest-per-key';
  }

  numberOf({ topic, partition }: TopicPartition): number {
    const first = this.#first.get(topic);
    if (first === undefined || !Number.isInteger(partition) || partition < 0 || partition >= this.#counts[topic])
      throw new RangeError(`There is no partition ${topic}/${partition}.`);
    return first + partition;
  }

  partitionAt(number: number): TopicPartition {
    const placed = this.#placed[number];
    if (!placed) throw new RangeError(`There is no partition ${number}.`);
    return placed;
  }
}
