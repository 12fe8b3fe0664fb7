/**
 * A topic in memory that honours the contract of `Topic` and misbehaves on demand. Several services share one instance as
 * several processes share a broker.
 *
 * Everything it waits for is a promise of the hooks, so a simulation that owns the hooks owns the order of things.
 */
import type { Instant, Offset, TopicName } from '@manyhands/protocol';

import type { Topic, TopicEntry, TopicMessage, TopicPartition, TopicPosition } from '../topic.ts';
import { TopicError } from '../topic.ts';

/** What becomes of one call of `append`. */
export type AppendFault =
  | { kind: 'none' }
  /** Nothing was written, and the caller knows. */
  | { kind: 'unavailable' }
  /** The first `written` entries were written, and the caller does not know. */
  | { kind: 'unknown-outcome'; written: number }
  /** Everything was written twice (a producer that tried again by itself). */
  | { kind: 'duplicate' };

export interface MemoryTopicHooks {
  /** The topic's clock (L8). */
  now(): Instant;
  /** Awaited before entries are written and again before the call is answered. */
  appending?(entries: readonly TopicEntry[]): Promise<AppendFault> | AppendFault;
  appended?(entries: readonly TopicEntry[]): Promise<void> | void;
  /** Awaited before a tail hands out a batch: a slow or stopped replica. */
  delivering?(batch: readonly TopicMessage[]): Promise<void> | void;
  /** Awaited before end offsets are looked up; may throw `TopicError`. */
  askingEndOffsets?(of: readonly TopicPartition[]): Promise<void> | void;
}

export interface MemoryTopicOptions {
  partitions?: Partial<Record<TopicName, number>>;
  defaultPartitions?: number;
  /** At most this many messages in one batch of a tail. */
  batchMessages?: number;
}

export class MemoryTopic implements Topic {
  readonly #logs = new Map<string, TopicMessage[]>();
  readonly #hooks: MemoryTopicHooks;
  readonly #options: MemoryTopicOptions;
  #wakers = new Set<() => void>();

  constructor(hooks: MemoryTopicHooks, options: MemoryTopicOptions = {}) {
    this.#hooks = hooks;
    this.#options = options;
  }

  partitionsOf(topic: TopicName): number {
    return this.#options.partitions?.[topic] ?? this.#options.defaultPartitions ?? 4;
  }

  async append(entries: readonly TopicEntry[]): Promise<void> {
    const fault = (await this.#hooks.appending?.(entries)) ?? { kind: 'none' };
    if (fault.kind === 'unavailable') throw new TopicError('unavailable', 'the topic is away');
    if (fault.kind === 'unknown-outcome') {
      this.#write(entries.slice(0, fault.written));
      throw new TopicError('unknown-outcome', 'the answer was lost');
    }
    this.#write(entries);
    if (fault.kind === 'duplicate') this.#write(entries);
    await this.#hooks.appended?.(entries);
  }

  async read(from: TopicPosition, maxBytes: number): Promise<TopicMessage[]> {
    if (from.offset > this.#end(from)) throw new TopicError('out-of-range', `offset ${from.offset} was never written`);
    return take(this.#log(from), from.offset, Number.MAX_SAFE_INTEGER, maxBytes);
  }

  async startOffset(of: TopicPartition): Promise<Offset> {
    return (this.#log(of)[0]?.offset ?? 0) as Offset;
  }

  async endOffsets(of: readonly TopicPartition[]): Promise<TopicPosition[]> {
    await this.#hooks.askingEndOffsets?.(of);
    return of.map((one) => ({ topic: one.topic, partition: one.partition, offset: this.#end(one) }));
  }

  async *tail(from: readonly TopicPosition[], signal: AbortSignal): AsyncIterable<readonly TopicMessage[]> {
    const positions = from.map((one) => ({ ...one }));
    while (!signal.aborted) {
      const batch = this.#batch(positions);
      if (batch.length === 0) {
        await this.#nextWrite(signal);
        continue;
      }
      await this.#hooks.delivering?.(batch);
      if (!signal.aborted) yield batch;
    }
  }

  /** Every message of a partition, for tests that look at the log itself. */
  messages(of: TopicPartition): readonly TopicMessage[] {
    return this.#log(of);
  }

  /** Takes the messages of a partition away, as an expired or replaced log would (L7). */
  truncate(of: TopicPartition, keepFrom: number): void {
    const log = this.#log(of);
    log.splice(0, log.length, ...log.filter((message) => message.offset >= keepFrom));
  }

  #batch(positions: TopicPosition[]): TopicMessage[] {
    const limit = this.#options.batchMessages ?? 500;
    const batch: TopicMessage[] = [];
    for (const position of positions) {
      const messages = take(this.#log(position), position.offset, limit - batch.length, Number.MAX_SAFE_INTEGER);
      const last = messages.at(-1);
      if (last) position.offset = (last.offset + 1) as Offset;
      batch.push(...messages);
      if (batch.length >= limit) break;
    }
    return batch;
  }

  #write(entries: readonly TopicEntry[]): void {
    for (const entry of entries) {
      const log = this.#log(entry);
      log.push({ ...entry, offset: this.#end(entry), appendedAt: this.#hooks.now() });
    }
    const wakers = this.#wakers;
    this.#wakers = new Set();
    for (const wake of wakers) wake();
  }

  #nextWrite(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#wakers.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wakers.add(done);
      signal.addEventListener('abort', done);
    });
  }

  #log(of: TopicPartition): TopicMessage[] {
    const name = `${of.topic}/${of.partition}`;
    let log = this.#logs.get(name);
    if (!log) this.#logs.set(name, (log = []));
    return log;
  }

  #end(of: TopicPartition): Offset {
    const last = this.#log(of).at(-1);
    return (last ? last.offset + 1 : 0) as Offset;
  }
}

function take(log: readonly TopicMessage[], offset: number, count: number, maxBytes: number): TopicMessage[] {
  const base = log[0]?.offset ?? 0;
  const messages: TopicMessage[] = [];
  let bytes = 0;
  for (let i = Math.max(0, offset - base); i < log.length && messages.length < count; i++) {
    const message = log[i] as TopicMessage;
    bytes += message.value?.length ?? 0;
    if (messages.length > 0 && bytes > maxBytes) break;
    messages.push(message);
  }
  return messages;
}
