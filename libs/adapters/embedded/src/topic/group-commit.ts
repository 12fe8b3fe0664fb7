import { TopicError } from '@manyhands/ports';
import type { LogEntry } from './packed-messages.ts';

/** A transaction takes at least one append, and further ones up to this size. */
const groupBytes = 8 * 1024 * 1024;
/** What may wait for the disk; more than this only ever waits when the disk has all but stopped. */
const waitingBytesLimit = 256 * 1024 * 1024;

interface Waiting {
  entries: readonly LogEntry[];
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Group commit: one write is in flight, and whatever arrives meanwhile goes into the next. No timer: an append that
 * finds nothing in flight leaves with what was called in the same tick.
 */
export class GroupCommit {
  readonly #write: (entries: readonly LogEntry[]) => Promise<void>;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | null = null;

  constructor(write: (entries: readonly LogEntry[]) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when the entries are written, all in one write; rejects with what the write rejected with. */
  add(entries: readonly LogEntry[]): Promise<void> {
    const bytes = entries.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0);
    if (this.#waitingBytes + bytes > waitingBytesLimit && this.#waiting.length > 0)
      return Promise.reject(new TopicError('unavailable', 'Too much waits to be written to the log.'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entries, bytes, resolve, reject });
      this.#waitingBytes += bytes;
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#writeGroup(this.#nextGroup());
    this.#running = null;
  }

  async #writeGroup(group: Waiting[]): Promise<void> {
    try {
      await this.#write(group.flatMap(({ entries }) => entries));
      for (const { resolve } of group) resolve();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  #nextGroup(): Waiting[] {
    let count = 0;
    let bytes = 0;
    while (count < this.#waiting.length && (count === 0 || bytes < groupBytes))
      bytes += (this.#waiting[count++] as Waiting).bytes;
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }
}
