/**
 * The topic as one process sees it: every call passes the process's gate before and after its effect, and misbehaves as
 * chance wants. The messages themselves lie in one topic in memory that all processes share.
 */
import type { Topic, TopicEntry, TopicMessage, TopicPartition, TopicPosition } from '@manyhands/ports';
import { TopicError } from '@manyhands/ports';
import type { MemoryTopic } from '@manyhands/ports/testing';
import type { Offset, TopicName } from '@manyhands/protocol';
import type { Chance } from './chance.ts';
import type { SimProcess } from './process.ts';

/** How often a call goes wrong. */
export interface TopicFaults {
  unavailable: number;
  /** Written wholly, in part or not at all, and the answer is lost. */
  unknownOutcome: number;
  /** Written twice, as by a producer that tries again by itself. */
  duplicate: number;
  endOffsetsUnavailable: number;
  /** A batch that comes very late. */
  lateDelivery: number;
}

export const noTopicFaults: TopicFaults = {
  unavailable: 0,
  unknownOutcome: 0,
  duplicate: 0,
  endOffsetsUnavailable: 0,
  lateDelivery: 0,
};

export class SimTopic implements Topic {
  readonly #shared: MemoryTopic;
  readonly #process: SimProcess;
  readonly #chance: Chance;
  readonly #faults: () => TopicFaults;

  constructor(shared: MemoryTopic, process: SimProcess, chance: Chance, faults: () => TopicFaults) {
    this.#shared = shared;
    this.#process = process;
    this.#chance = chance;
    this.#faults = faults;
  }

  partitionsOf(topic: TopicName): number {
    return this.#shared.partitionsOf(topic);
  }

  async append(entries: readonly TopicEntry[]): Promise<void> {
    await this.#process.gate();
    const faults = this.#faults();
    if (this.#chance.happens(faults.unavailable)) throw new TopicError('unavailable', 'the topic is away');
    const isUnknown = this.#chance.happens(faults.unknownOutcome);
    const written = isUnknown ? entries.slice(0, this.#chance.between(0, entries.length)) : entries;
    await this.#write(written);
    if (this.#chance.happens(faults.duplicate)) await this.#write(written);
    await this.#process.gate();
    if (isUnknown) throw new TopicError('unknown-outcome', 'the answer was lost');
  }

  async read(from: TopicPosition, maxBytes: number): Promise<TopicMessage[]> {
    await this.#process.gate();
    return this.#shared.read(from, maxBytes);
  }

  async startOffset(of: TopicPartition): Promise<Offset> {
    await this.#process.gate();
    return this.#shared.startOffset(of);
  }

  async endOffsets(of: readonly TopicPartition[]): Promise<TopicPosition[]> {
    await this.#process.gate();
    if (this.#chance.happens(this.#faults().endOffsetsUnavailable)) {
      throw new TopicError('unavailable', 'the topic cannot be asked');
    }
    const ends = await this.#shared.endOffsets(of);
    await this.#process.gate();
    return ends;
  }

  async *tail(from: readonly TopicPosition[], signal: AbortSignal): AsyncIterable<readonly TopicMessage[]> {
    for await (const batch of this.#shared.tail(from, signal)) {
      await this.#process.gate();
      if (this.#chance.happens(this.#faults().lateDelivery)) await this.#process.sleep(this.#chance.between(50, 2_000));
      if (signal.aborted) return;
      yield batch;
    }
  }

  async #write(entries: readonly TopicEntry[]): Promise<void> {
    if (entries.length > 0) await this.#shared.append(entries);
  }
}
