import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EmbeddedTopic, LocalKeyService, SystemClock } from '@manyhands/adapter-embedded';
import { silentLogger } from '@manyhands/ports';
import { MemoryBlobStore, sessionLogContract } from '@manyhands/ports/testing';
import { describe } from 'vitest';
import { LogReplicas } from '../testing/log-replicas.ts';
import { SessionLogService } from './session-log-service.ts';

describe('SessionLogService over a topic in memory', () => {
  sessionLogContract(async () => {
    const replicas = new LogReplicas(new SystemClock());
    return { log: await replicas.start(), stop: () => replicas.stopAll() };
  });
});

describe('SessionLogService over the embedded topic, with reader threads', () => {
  sessionLogContract(async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'session-log-'));
    const partitions = { 'sessions-01': 8, 'resources-01': 4, keys: 4, wakes: 1, workers: 1 };
    const topic = await EmbeddedTopic.open({ file: path.join(directory, 'log.db'), partitions });
    const log = new SessionLogService({
      topic,
      blobs: new MemoryBlobStore(),
      keys: new LocalKeyService(new Uint8Array(32).fill(7)),
      clock: new SystemClock(),
      logger: silentLogger,
      copyPath: path.join(directory, 'copy.db'),
      keysPath: path.join(directory, 'keys.db'),
      readerThreads: 2,
      defaultEffort: () => 'medium',
    });
    await log.start();
    const stop = async () => {
      await log.stop();
      await topic.close();
      rmSync(directory, { recursive: true });
    };
    return { log, stop };
  });
});
