/**
 * The topics of one process in one file, `log.db`.
 *
 * - A writer's thread makes each group of appends durable with one fsync; a reader's thread, started when it is first
 *   needed, reads the file. The main thread only copies bytes in and hands messages out.
 * - A tail that stands at the end of its partitions is fed from memory as soon as messages are durable; one that fell
 *   behind reads the file in bulk until it has caught up.
 * - The ends known here never run ahead of what is durable, and nobody else writes: they answer the barrier (L11).
 */
import { TopicError } from '@manyhands/ports';
import type { Topic, TopicEntry, TopicMessage, TopicPartition, TopicPosition } from '@manyhands/ports';
import type { Instant, Offset, TopicName } from '@manyhands/protocol';
import { GroupCommit } from './group-commit.ts';
import { inspectLog } from './inspected-log.ts';
import type { InspectedLog } from './inspected-log.ts';
import { LogThread, LogThreadError } from './log-thread.ts';
import type { ReadRequest } from './log-reader.ts';
import type { LogAnswers } from './log-thread-protocol.ts';
import { pack, unpack } from './packed-messages.ts';
import type { LogEntry, LogMessage } from './packed-messages.ts';
import { PartitionIndex } from './partition-index.ts';
import type { PartitionCounts } from './partition-index.ts';
import { Tail } from './tail.ts';

export interface EmbeddedTopicOptions {
  /** Path of `log.db`; the caller holds the lock of its directory. */
  file: string;
  /** Partitions of each topic, the log's identity (L9). */
  partitions: PartitionCounts;
  /** false: a log that is not there was lost, and is not made anew. */
  mayCreate?: boolean;
  /** Is shown the log that is there before anything is written to it; what it throws refuses the log. */
  inspect?: (log: InspectedLog) => void;
}

type WriterFound = NonNullable<LogAnswers['open']>;

/** What a tail that is behind reads from the file at once. */
const catchUpBytes = 8 * 1024 * 1024;

export class EmbeddedTopic implements Topic {
  readonly identity: string;
  readonly #file: string;
  readonly #index: PartitionIndex;
  readonly #writer: LogThread;
  readonly #ends: number[];
  readonly #commits = new GroupCommit((entries) => this.#write(entries));
  readonly #tails = new Set<Tail>();
  #reader: Promise<LogThread> | null = null;
  #closed: Promise<void> | null = null;

  private constructor(file: string, index: PartitionIndex, writer: LogThread, opened: WriterFound) {
    this.identity = opened.identity;
    this.#file = file;
    this.#index = index;
    this.#writer = writer;
    this.#ends = opened.ends;
    // Nothing can be written any more, so nobody may wait for more.
    void writer.ended.then(() => this.close());
  }

  /**
   * Opens the log, or makes it. Throws `TopicError`: `'damaged'` when the file is not a whole log (it is left as it
   * is), `'identity-mismatch'` when it was made with other partitions.
   */
  static async open(options: EmbeddedTopicOptions): Promise<EmbeddedTopic> {
    const { file, partitions, mayCreate = true, inspect = () => undefined } = options;
    const index = new PartitionIndex(partitions);
    inspectLog(file, index, mayCreate, inspect);
    const { thread, opened } = await LogThread.start({ role: 'writer', file, layout: index.layout });
    return new EmbeddedTopic(file, index, thread, opened as WriterFound);
  }

  partitionsOf(topic: TopicName): number {
    return this.#index.partitionsOf(topic);
  }

  async append(entries: readonly TopicEntry[]): Promise<void> {
    this.#assertOpen();
    const placed = entries.map((entry) => this.#place(entry));
    if (placed.length > 0) await this.#commits.add(placed);
  }

  async read({ offset, ...of }: TopicPosition, maxBytes: number): Promise<TopicMessage[]> {
    this.#assertOpen();
    const partition = this.#index.numberOf(of);
    const end = this.#ends[partition] as number;
    this.#assertHeld({ ...of, offset });
    const messages = await this.#readFile({ partition, from: offset, upTo: end, maxBytes });
    return messages.map((message) => this.#published(message));
  }

  async startOffset(of: TopicPartition): Promise<Offset> {
    this.#assertOpen();
    const reader = await this.#startedReader();
    return (await reader.call({ kind: 'start-offset', partition: this.#index.numberOf(of) })) as Offset;
  }

  async endOffsets(of: readonly TopicPartition[]): Promise<TopicPosition[]> {
    this.#assertOpen();
    return of.map(({ topic, partition }) => {
      const offset = this.#ends[this.#index.numberOf({ topic, partition })] as Offset;
      return { topic, partition, offset };
    });
  }

  async *tail(from: readonly TopicPosition[], signal: AbortSignal): AsyncGenerator<readonly TopicMessage[], void> {
    this.#assertOpen();
    const tail = new Tail(new Map(from.map((position) => [this.#index.numberOf(position), position.offset])));
    for (const position of from) this.#assertHeld(position);
    this.#tails.add(tail);
    const stop = () => tail.notify();
    signal.addEventListener('abort', stop, { once: true });
    try {
      while (!signal.aborted) {
        const messages = await this.#nextOf(tail);
        this.#assertOpen();
        if (messages.length > 0) yield messages.map((message) => this.#published(message));
        else if (!signal.aborted) await tail.changed();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#tails.delete(tail);
    }
  }

  /** Writes what was appended, ends every tail with `'closed'`, and closes the file. */
  close(): Promise<void> {
    return (this.#closed ??= this.#shutDown());
  }

  async #shutDown(): Promise<void> {
    await this.#commits.drained();
    for (const tail of this.#tails) tail.notify();
    const reader = await this.#reader?.catch(() => null); // A reader that did not start needs no stopping.
    await Promise.all([this.#writer.stop(), reader?.stop()]);
  }

  async #write(entries: readonly LogEntry[]): Promise<void> {
    try {
      const batch = await this.#writer.call({ kind: 'append', batch: pack(entries) });
      this.#committed(unpack(batch));
    } catch (error) {
      if (error instanceof LogThreadError && error.ends) this.#resume(error.ends);
      throw error;
    }
  }

  #committed(messages: readonly LogMessage[]): void {
    for (const { partition, offset } of messages) this.#ends[partition] = offset + 1;
    for (const tail of this.#tails) tail.offer(messages);
  }

  /** After a failed append the file says what became of it. */
  #resume(ends: readonly number[]): void {
    ends.forEach((end, partition) => (this.#ends[partition] = end));
    for (const tail of this.#tails) tail.fallBehind();
  }

  async #nextOf(tail: Tail): Promise<LogMessage[]> {
    const buffered = tail.takeBuffered();
    if (buffered.length > 0) return buffered;
    const behind = tail.nextBehind(this.#ends);
    if (!behind) return [];
    const upTo = this.#ends[behind.partition] as number;
    const messages = await this.#readFile({ ...behind, upTo, maxBytes: catchUpBytes });
    const last = messages.at(-1);
    tail.readUpTo(behind.partition, last ? last.offset + 1 : upTo);
    return messages;
  }

  async #readFile(read: ReadRequest): Promise<LogMessage[]> {
    if (read.from >= read.upTo) return [];
    const reader = await this.#startedReader();
    return unpack(await reader.call({ kind: 'read', read }));
  }

  #startedReader(): Promise<LogThread> {
    if (this.#reader) return this.#reader;
    const starting = LogThread.start({ role: 'reader', file: this.#file, layout: this.#index.layout });
    const reader = starting.then(({ thread }) => thread);
    reader.catch(() => (this.#reader = null)); // The caller is told; the next one tries again.
    return (this.#reader = reader);
  }

  #place({ topic, partition, key, value }: TopicEntry): LogEntry {
    if (value === null && !this.#index.keepsLatestPerKey(topic))
      throw new TypeError(`The topic ${topic} takes no tombstones.`);
    return { partition: this.#index.numberOf({ topic, partition }), key, value };
  }

  #published({ partition, offset, appendedAt, key, value }: LogMessage): TopicMessage {
    const at = this.#index.partitionAt(partition);
    return { ...at, offset: offset as Offset, key, value, appendedAt: appendedAt as Instant };
  }

  #assertOpen(): void {
    if (this.#closed) throw new TopicError('closed', 'The log is closed.');
  }

  #assertHeld({ topic, partition, offset }: TopicPosition): void {
    if (offset < 0 || offset > (this.#ends[this.#index.numberOf({ topic, partition })] as number))
      throw new TopicError('out-of-range', `${topic}/${partition} holds no offset ${offset}.`);
  }
}
