import type { Instant, Offset, TopicName } from '@manyhands/protocol';

export interface TopicMessage {
  topic: TopicName;
  partition: number;
  offset: Offset;
  key: string;
  /** null: a tombstone (topic `keys` only). */
  value: Uint8Array | null;
  /** When the topic took it, by the topic's clock (L8). */
  appendedAt: Instant;
}

export interface TopicEntry {
  topic: TopicName;
  partition: number;
  key: string;
  value: Uint8Array | null;
}

export interface TopicPartition {
  topic: TopicName;
  partition: number;
}

/** Where a reader goes on: the offset of the next message it wants. */
export interface TopicPosition extends TopicPartition {
  offset: Offset;
}

/**
 * An ordered, durable, partitioned topic. It has no conditional append: what is appended is kept, also a commit that
 * every reader will refuse.
 *
 * - `append` resolves when every entry is durable, in the order given per partition; entries of calls in flight at once
 *   may interleave. On an error nothing, a part or all of it may have been written (`TopicError.code`
 *   `'unknown-outcome'`), or surely nothing (`'unavailable'`).
 * - Offsets of a partition rise; they may have gaps in a compacted topic.
 * - `read` returns messages from an offset on in order, at most about `maxBytes` (always one if there is one), `[]` at
 *   the end; an offset beyond the end is `'out-of-range'`.
 * - `endOffsets` answers the offset after the last durable message, asked for after the call began (L11).
 * - `tail` yields batches of one or more messages, per partition in order and without gaps from the position given, and
 *   goes on for ever; it ends when the signal aborts and throws `TopicError` when it cannot go on.
 */
export interface Topic {
  /** Tells this log from every other, where the topic knows: a copy that was folded from another is not believed (L9). */
  readonly identity?: string;
  partitionsOf(topic: TopicName): number;
  append(entries: readonly TopicEntry[]): Promise<void>;
  read(from: TopicPosition, maxBytes: number): Promise<TopicMessage[]>;
  /** The first offset still held; not 0 for a commit topic means a truncated log (L7). */
  startOffset(of: TopicPartition): Promise<Offset>;
  endOffsets(of: readonly TopicPartition[]): Promise<TopicPosition[]>;
  tail(from: readonly TopicPosition[], signal: AbortSignal): AsyncIterable<readonly TopicMessage[]>;
}

export type TopicErrorCode =
  | 'unavailable'
  | 'unknown-outcome'
  /** The offset was never written, or is no longer held. */
  | 'out-of-range'
  | 'damaged'
  /** Other partitions or settings than the program's: the log has another identity (L9). */
  | 'identity-mismatch'
  | 'closed';

export class TopicError extends Error {
  readonly code: TopicErrorCode;
  readonly retriable: boolean;
  constructor(code: TopicErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TopicError';
    this.code = code;
    this.retriable = code === 'unavailable' || code === 'unknown-outcome';
  }
}
