import type { LogMessage } from './packed-messages.ts';

/** What one slow tail may keep in memory; beyond it the tail reads from the file. */
const bufferedBytesLimit = 8 * 1024 * 1024;
/** What a message costs beside its value. */
const messageOverheadBytes = 256;

/**
 * Where one tail stands.
 *
 * A partition is either *live*, when every message that becomes durable is offered and buffered here, or *behind*, when
 * messages are read from the file until its end. `next` is the offset to be buffered or read next; a live partition's
 * is the end of the partition, so that a message which does not fit there, or finds the buffer full, puts the
 * partition behind instead of leaving a gap (L5).
 */
export class Tail {
  readonly #next: Map<number, number>;
  readonly #behind: Set<number>;
  #buffered: LogMessage[] = [];
  #bufferedBytes = 0;
  #notify: (() => void) | null = null;

  constructor(from: ReadonlyMap<number, number>) {
    this.#next = new Map(from);
    this.#behind = new Set(from.keys());
  }

  /** Messages that have just become durable. */
  offer(messages: readonly LogMessage[]): void {
    for (const message of messages) if (this.#next.has(message.partition)) this.#take(message);
    this.#notify?.();
  }

  /** The partitions moved in a way that offered no messages: look at the file. */
  fallBehind(): void {
    for (const partition of this.#next.keys()) this.#behind.add(partition);
    this.#notify?.();
  }

  takeBuffered(): LogMessage[] {
    const messages = this.#buffered;
    this.#buffered = [];
    this.#bufferedBytes = 0;
    return messages;
  }

  /** The partition to be read from the file next, given where the partitions end; null when all are live. */
  nextBehind(ends: readonly number[]): { partition: number; from: number } | null {
    for (const partition of this.#behind) {
      const from = this.#next.get(partition) as number;
      this.#behind.delete(partition);
      if (from >= (ends[partition] as number)) continue;
      this.#behind.add(partition); // To the end of the set, so that partitions take turns.
      return { partition, from };
    }
    return null;
  }

  /** The partition has been read from the file up to, and without, this offset. */
  readUpTo(partition: number, offset: number): void {
    this.#next.set(partition, offset);
  }

  /** Resolves when there may be something new; at once when there is. */
  changed(): Promise<void> {
    if (this.#buffered.length > 0 || this.#behind.size > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#notify = () => {
        this.#notify = null;
        resolve();
      };
    });
  }

  /** Makes `changed` resolve. */
  notify(): void {
    this.#notify?.();
  }

  #take(message: LogMessage): void {
    const { partition, offset, value } = message;
    if (this.#behind.has(partition)) return;
    if (offset !== this.#next.get(partition) || this.#bufferedBytes >= bufferedBytesLimit) {
      this.#behind.add(partition);
      return;
    }
    this.#buffered.push(message);
    this.#bufferedBytes += (value?.length ?? 0) + messageOverheadBytes;
    this.#next.set(partition, offset + 1);
  }
}
