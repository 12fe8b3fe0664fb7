/** Everything that stands in the data directory, opened in the order in which one guards the next. */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { DirectoryBlobStore } from '@manyhands/adapter-blob';
import type { InspectedLog, SigningKey } from '@manyhands/adapter-embedded';
import {
  assertOpensLog,
  DataDirectoryError,
  DataDirectoryLock,
  EmbeddedTopic,
  FileKeyService,
  loadOrCreateApiKey,
  loadOrCreateSigningKey,
} from '@manyhands/adapter-embedded';
import { TopicError, type BlobStore, type KeyService } from '@manyhands/ports';
import { topics } from '@manyhands/protocol';
import { problemOfLog } from '@manyhands/runtime';

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

/** They are made after the log: where one of them is, there was a log. */
const madeAfterTheLog = ['key-encryption.key', 'copy.db', 'keys.db'];
const databases = ['log.db', 'copy.db', 'keys.db'];

export async function openData(directory: string, givenApiKey: string | null): Promise<Data> {
  const lock = DataDirectoryLock.acquire(directory);
  const inside = (name: string): string => path.join(directory, name);
  try {
    for (const name of databases) assertFile(inside(name));
    const topic = await EmbeddedTopic.open({
      file: inside('log.db'),
      partitions,
      mayCreate: !madeAfterTheLog.some((name) => existsSync(inside(name))),
      inspect: (log) => assertBelongs(log, inside('key-encryption.key'), inside('copy.db')),
    });
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

function assertFile(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new DataDirectoryError('unusable', `${file} must be a file.`);
}

/** The log, the key and the copy are of one directory, or nothing is written to any of them. */
function assertBelongs(log: InspectedLog, keyFile: string, copyFile: string): void {
  const isNew = log.end({ topic: topics.resources, partition: 0 }) === 0;
  if (!isNew || existsSync(keyFile)) assertOpensLog(FileKeyService.open(keyFile, { mayCreate: false }), log);
  const problem = problemOfLog(log, copyFile);
  if (problem === null) return;
  const advice = `Put back log.db with its log.db-wal; to go on with what this log holds, remove ${copyFile}.`;
  throw new TopicError('damaged', `${problem} ${advice}`);
}
