/**
 * The data keys of streams: made before a stream's first commit, wrapped by the key service, kept in topic `keys`.
 *
 * - A key is durable before the first commit under it. One whose create was refused is an orphan and stays.
 * - A key that is missing is looked for behind the barrier of its partition; missing there too, it is a fault and is never
 *   shown as a deletion.
 */
import { SessionLogError, type Clock, type KeyService, type Topic, type TopicPartition } from '@manyhands/ports';
import { formatId, partitionOf, topics } from '@manyhands/protocol';
import type { KeyId, StreamId } from '@manyhands/protocol';
import { Lru } from '../lru.ts';
import type { GroupCommit } from './group-commit.ts';
import type { KeyFile } from './key-file.ts';
import type { DataKey } from './seal-commit.ts';

export interface DataKeysOptions {
  topic: Topic;
  clock: Clock;
  service: KeyService;
  file: KeyFile;
  groups: GroupCommit;
  passBarrier: (partitions: readonly TopicPartition[]) => Promise<void>;
}

const hotKeys = 5_000;
const dataKeyBytes = 32;

/** Keys of one stream by their id, oldest first. */
export type KeyRing = ReadonlyMap<KeyId, Uint8Array>;

export class DataKeys {
  readonly #options: DataKeysOptions;
  readonly #rings = new Lru<StreamId, Map<KeyId, Uint8Array>>(hotKeys);
  /** Made here and not folded back yet. */
  readonly #fresh = new Map<StreamId, DataKey>();

  constructor(options: DataKeysOptions) {
    this.#options = options;
  }

  async forWriting(streamId: StreamId, isFirst: boolean): Promise<DataKey> {
    const known = this.#newest(streamId);
    if (known) return known;
    if (isFirst) return this.#make(streamId);
    await this.#options.passBarrier([this.partitionOf(streamId)]);
    const folded = this.#newest(streamId);
    if (!folded) throw keyMissing(streamId);
    return folded;
  }

  /** The keys known here, of a stream whose payloads are to be read now. */
  ring(streamId: StreamId): KeyRing {
    const hot = this.#rings.get(streamId);
    if (hot) return hot;
    const ring = new Map<KeyId, Uint8Array>();
    for (const { keyId, wrapped } of this.#options.file.of(streamId)) {
      ring.set(keyId, this.#unwrap(streamId, keyId, wrapped));
    }
    const fresh = this.#fresh.get(streamId);
    if (fresh) ring.set(fresh.keyId, fresh.key);
    if (ring.size > 0) this.#rings.set(streamId, ring);
    return ring;
  }

  /** A key that the ring does not have: waits for the fold of `keys`, then answers or throws `key-missing`. */
  async find(streamId: StreamId, keyId: KeyId): Promise<KeyRing> {
    this.#rings.delete(streamId);
    await this.#options.passBarrier([this.partitionOf(streamId)]);
    const ring = this.ring(streamId);
    if (!ring.has(keyId)) throw keyMissing(streamId);
    return ring;
  }

  partitionOf(streamId: StreamId): TopicPartition {
    return { topic: topics.keys, partition: partitionOf(streamId, this.#options.topic.partitionsOf(topics.keys)) };
  }

  /** Writes tombstones for every key of a stream that is known here. */
  async destroy(streamId: StreamId): Promise<void> {
    const partition = this.partitionOf(streamId);
    const keys = this.#options.file.of(streamId);
    await Promise.all(
      keys.map(({ keyId }) =>
        this.#options.groups.append({ ...partition, key: contextOf(streamId, keyId), value: null }),
      ),
    );
  }

  /** The fold of `keys` calls this for every key it took or removed. */
  folded(streamId: StreamId): void {
    this.#fresh.delete(streamId);
    this.#rings.delete(streamId);
  }

  #newest(streamId: StreamId): DataKey | null {
    const newest = [...this.ring(streamId)].at(-1);
    return newest ? { keyId: newest[0], key: newest[1] } : null;
  }

  #unwrap(streamId: StreamId, keyId: KeyId, wrapped: Uint8Array): Uint8Array {
    try {
      return this.#options.service.unwrap(wrapped, contextOf(streamId, keyId));
    } catch (cause) {
      throw new SessionLogError('key-missing', `a data key of ${streamId} cannot be unwrapped`, { cause });
    }
  }

  async #make(streamId: StreamId): Promise<DataKey> {
    const { clock, service, groups } = this.#options;
    const keyId = formatId('key', clock.randomBytes(16));
    const key = clock.randomBytes(dataKeyBytes);
    const value = service.wrap(key, contextOf(streamId, keyId));
    await groups
      .append({ ...this.partitionOf(streamId), key: contextOf(streamId, keyId), value })
      .catch((cause: unknown) => {
        throw new SessionLogError('unavailable', 'a data key could not be written', { cause });
      });
    const isFolded = this.#options.file.of(streamId).some((folded) => folded.keyId === keyId);
    if (!isFolded) this.#fresh.set(streamId, { keyId, key });
    this.#rings.delete(streamId);
    return { keyId, key };
  }
}

/** Key of a message in topic `keys`, and what a wrapped key is bound to. */
export function contextOf(streamId: StreamId, keyId: KeyId): string {
  return `${streamId}/${keyId}`;
}

function keyMissing(streamId: StreamId): SessionLogError {
  return new SessionLogError('key-missing', `a data key of ${streamId} is lost; what it sealed cannot be read`);
}
