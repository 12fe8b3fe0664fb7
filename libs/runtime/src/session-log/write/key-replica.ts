/** Tails topic `keys` into the key file. A tombstone removes its key from there and from memory. */
import {
  TopicError,
  type Clock,
  type Logger,
  type Topic,
  type TopicMessage,
  type TopicPartition,
} from '@manyhands/ports';
import type { KeyId, Offset, StreamId } from '@manyhands/protocol';
import { Positions } from '../fold/positions.ts';
import type { KeyFile } from './key-file.ts';

export interface KeyReplicaOptions {
  topic: Topic;
  clock: Clock;
  logger: Logger;
  file: KeyFile;
  partitions: readonly TopicPartition[];
  onFolded: (streamId: StreamId) => void;
}

const retryMs = 250;

export class KeyReplica {
  readonly positions = new Positions();
  readonly #options: KeyReplicaOptions;
  readonly #abort = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #stopped: string | null = null;
  #damage: string | null = null;

  constructor(options: KeyReplicaOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  stoppedBecause(): string | null {
    return this.#stopped;
  }

  /** Why the topic cannot be folded, and will not be either when this is tried again; null while it can. */
  damage(): string | null {
    return this.#damage;
  }

  async #run(): Promise<void> {
    const { topic, clock, logger, partitions } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      try {
        const from = partitions.map((partition) => ({ ...partition, offset: this.positions.get(partition) }));
        for await (const batch of topic.tail(from, signal)) this.#batch(batch);
      } catch (cause) {
        if (signal.aborted) return;
        logger.error({ cause: String(cause) }, 'folding of data keys was interrupted and goes on');
        if (cause instanceof TopicError && !cause.retriable) {
          this.#stopped = cause.message;
          if (cause.code !== 'closed') this.#damage = cause.message;
          return;
        }
      }
      await clock.sleep(retryMs, signal);
    }
  }

  #batch(batch: readonly TopicMessage[]): void {
    const streams = new Set<StreamId>();
    let hasTombstone = false;
    this.#options.file.transaction(() => {
      for (const message of batch) {
        const slash = message.key.lastIndexOf('/');
        const streamId = message.key.slice(0, slash) as StreamId;
        const keyId = message.key.slice(slash + 1) as KeyId;
        if (message.value) this.#options.file.put(streamId, keyId, message.value);
        else this.#options.file.remove(streamId, keyId);
        hasTombstone ||= message.value === null;
        streams.add(streamId);
      }
    });
    if (hasTombstone) this.#options.file.truncateWal();
    for (const streamId of streams) this.#options.onFolded(streamId);
    for (const { topic, partition, offset } of batch) {
      this.positions.set({ topic, partition, offset: (offset + 1) as Offset });
    }
  }
}
