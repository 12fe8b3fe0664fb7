/**
 * Which partitions a log file has, as all its threads see them: a partition is a number, its place in the list of all
 * partitions. Imports nothing, so that a thread of the log starts fast.
 */

/** What a topic forgets. */
export type Retention =
  | { kind: 'for-ever' }
  /** Earlier values of a key go when a later one, or a tombstone, is written. */
  | { kind: 'latest-per-key' }
  /** Messages go some time after this age, when others are written. */
  | { kind: 'for-a-time'; ms: number };

export interface TopicLayout {
  topic: string;
  partitions: number;
  retention: Retention;
}

export type LogLayout = readonly TopicLayout[];

export interface PlacedPartition {
  topic: string;
  partition: number;
  retention: Retention;
}

export function partitionsIn(layout: LogLayout): PlacedPartition[] {
  return layout.flatMap(({ topic, partitions, retention }) =>
    Array.from({ length: partitions }, (_, partition) => ({ topic, partition, retention })),
  );
}
