/** Everything that stands in the data directory, opened in the order in which one guards the next. */
import path from 'node:path';
import { DirectoryBlobStore } from '@manyhands/adapter-blob';
import type { SigningKey } from '@manyhands/adapter-embedded';
import {
  DataDirectoryLock,
  EmbeddedTopic,
  FileKeyService,
  loadOrCreateApiKey,
  loadOrCreateSigningKey,
} from '@manyhands/adapter-embedded';
import type { BlobStore, KeyService } from '@manyhands/ports';
import { topics } from '@manyhands/protocol';

/** The log's identity (L9): one process needs no more, and fewer would bind every session to one order. */
const partitions = {
  [topics.sessions]: 4,
  [topics.resources]: 1,
  [topics.keys]: 1,
  [topics.wakes]: 1,
  [topics.workers]: 1,
};

export interface Data {
  directory: string;
  topic: EmbeddedTopic;
  blobs: BlobStore;
  keys: KeyService;
  signingKey: SigningKey;
  /** `file`: where it is kept; null when it was given. */
  apiKey: { key: string; created: boolean; file: string | null };
  /** Nothing was ever run here. */
  isNew: boolean;
  close(): Promise<void>;
}

export async function openData(directory: string, givenApiKey: string | null): Promise<Data> {
  const lock = DataDirectoryLock.acquire(directory);
  const inside = (name: string): string => path.join(directory, name);
  try {
    const topic = await EmbeddedTopic.open({ file: inside('log.db'), partitions });
    const ends = await topic.endOffsets([{ topic: topics.resources, partition: 0 }]);
    const isNew = (ends[0]?.offset ?? 0) === 0;
    return {
      directory,
      topic,
      blobs: await DirectoryBlobStore.open(inside('blobs')),
      // A log whose keys are gone is not given new ones: it could never be read again.
      keys: FileKeyService.open(inside('key-encryption.key'), { mayCreate: isNew }),
      signingKey: loadOrCreateSigningKey(inside('grants.key')),
      apiKey: givenApiKey
        ? { key: givenApiKey, created: false, file: null }
        : { ...loadOrCreateApiKey(inside('api.key')), file: inside('api.key') },
      isNew,
      close: async () => {
        await topic.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
