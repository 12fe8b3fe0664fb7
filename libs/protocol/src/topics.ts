/** Topic names and their partition counts: the log's identity (L9). */
import { logGeneration } from './ids.ts';
import type { StreamId } from './ids.ts';
import { isSessionStream } from './ids.ts';

export const topics = {
  sessions: `sessions-${logGeneration}`,
  resources: `resources-${logGeneration}`,
  keys: 'keys',
  wakes: 'wakes',
  workers: 'workers',
} as const;

export type TopicName = (typeof topics)[keyof typeof topics];

/** The topic that holds a stream's commits. */
export function topicOf(streamId: StreamId): TopicName {
  return isSessionStream(streamId) ? topics.sessions : topics.resources;
}

/**
 * The partition of a key: FNV-1a over its UTF-8 bytes, modulo the count. Computed by us and never by a client library,
 * so that every writer in every language of every version agrees.
 */
export function partitionOf(key: string, partitions: number): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(key)) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0) % partitions;
}
