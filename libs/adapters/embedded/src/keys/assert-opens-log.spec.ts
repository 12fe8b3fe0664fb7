import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KeyServiceError, type TopicEntry } from '@manyhands/ports';
import { topics } from '@manyhands/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EmbeddedTopic } from '../topic/embedded-topic.ts';
import { assertOpensLog } from './assert-opens-log.ts';
import { LocalKeyService } from './local-key-service.ts';

const partitions = { 'sessions-01': 1, 'resources-01': 1, keys: 2, wakes: 1, workers: 1 };

describe('a key-encryption key and a log', { timeout: 60_000 }, () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'keys-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const right = new LocalKeyService(randomBytes(32));
  const wrong = new LocalKeyService(randomBytes(32));
  const entry = (key: string, value: Uint8Array | null): TopicEntry => ({
    topic: topics.keys,
    partition: 1,
    key,
    value,
  });
  const wrapped = (key: string) => entry(key, right.wrap(randomBytes(32), key));

  async function open(entries: TopicEntry[], inspect?: Parameters<typeof EmbeddedTopic.open>[0]['inspect']) {
    const topic = await EmbeddedTopic.open({ file: path.join(directory, 'log.db'), partitions, inspect });
    await topic.append(entries);
    await topic.close();
  }

  it('belong together when the key opens a data key, also behind many that were destroyed', async () => {
    const destroyed = Array.from({ length: 2_000 }, (_, n) => entry(`sesn_01${n}/dkey_01${'x'.repeat(60)}`, null));
    await open([...destroyed, wrapped('sesn_01a/dkey_01a')]);
    await open([], (log) => assertOpensLog(right, log));
    await expect(open([], (log) => assertOpensLog(wrong, log))).rejects.toThrow(KeyServiceError);
    await expect(open([], (log) => assertOpensLog(wrong, log))).rejects.toThrow(/of another data directory/);
  });

  it('may be any where the log holds no data key', async () => {
    await open([wrapped('sesn_01a/dkey_01a'), entry('sesn_01a/dkey_01a', null)]);
    await open([], (log) => assertOpensLog(wrong, log));
  });
});
