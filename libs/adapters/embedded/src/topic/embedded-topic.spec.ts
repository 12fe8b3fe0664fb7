import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TopicMessage, TopicPosition } from '@manyhands/ports';
import { topicContract } from '@manyhands/ports/testing';
import { topics } from '@manyhands/protocol';
import type { Offset } from '@manyhands/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EmbeddedTopic } from './embedded-topic.ts';
import type { PartitionCounts } from './partition-index.ts';

const partitions: PartitionCounts = { 'sessions-01': 3, 'resources-01': 2, keys: 2, wakes: 1, workers: 1 };

topicContract('embedded', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'topic-'));
  const options = { file: path.join(directory, 'log.db'), partitions };
  let topic = await EmbeddedTopic.open(options);
  return {
    topic,
    reopen: async () => {
      await topic.close();
      return (topic = await EmbeddedTopic.open(options));
    },
    close: async () => {
      await topic.close();
      rmSync(directory, { recursive: true });
    },
  };
});

describe('EmbeddedTopic', { timeout: 60_000 }, () => {
  let directory: string;
  const opened: EmbeddedTopic[] = [];
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'topic-'));
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((topic) => topic.close()));
    rmSync(directory, { recursive: true });
  });

  const start: TopicPosition = { topic: topics.sessions, partition: 0, offset: 0 as Offset };
  const entry = (value: Uint8Array, partition = 0) => ({ topic: topics.sessions, partition, key: 'sesn_01a', value });

  async function open(counts = partitions): Promise<EmbeddedTopic> {
    const topic = await EmbeddedTopic.open({ file: path.join(directory, 'log.db'), partitions: counts });
    opened.push(topic);
    return topic;
  }

  it('refuses other partition counts than the log was made with, and leaves the log as it was', async () => {
    const first = await open();
    await first.append([entry(Uint8Array.of(1))]);
    await first.close();
    await expect(open({ ...partitions, 'sessions-01': 4 })).rejects.toMatchObject({
      name: 'TopicError',
      code: 'identity-mismatch',
      retriable: false,
      message: expect.stringContaining('sessions-01 has 3 partitions') as string,
    });
    expect(await (await open()).read(start, 1)).toHaveLength(1);
  });

  it('refuses an append to a partition that is not there, and tombstones where every value is kept', async () => {
    const topic = await open();
    await expect(topic.append([entry(Uint8Array.of(1), 3)])).rejects.toThrow(RangeError);
    await expect(topic.append([{ ...entry(Uint8Array.of(1)), value: null }])).rejects.toThrow(TypeError);
  });

  it('lets a tail that stopped reading catch up from the file, without gaps', async () => {
    const topic = await open();
    const stop = new AbortController();
    const tail = topic.tail([start, { ...start, partition: 1 }], stop.signal)[Symbol.asyncIterator]();
    await topic.append([entry(Uint8Array.of(0))]);
    const seen: TopicMessage[] = [...((await tail.next()).value as TopicMessage[])];

    // More than a tail may keep in memory, while nobody reads it.
    const large = new Uint8Array(1_000_000);
    for (let n = 0; n < 24; n++) await topic.append([entry(large, n % 2)]);
    while (seen.length < 25) seen.push(...((await tail.next()).value as TopicMessage[]));
    expectWithoutGaps(seen);

    await topic.append([entry(Uint8Array.of(9), 1)]);
    expect((await tail.next()).value).toMatchObject([{ partition: 1, offset: 12 }]);
    stop.abort();
    expect(await tail.next()).toMatchObject({ done: true });
  });

  it('writes what was appended before it closes, and refuses everything after', async () => {
    const topic = await open();
    const tail = topic.tail([start], new AbortController().signal)[Symbol.asyncIterator]();
    const appends = Array.from({ length: 50 }, (_, n) => topic.append([entry(Uint8Array.of(n))]));
    await topic.close();
    await Promise.all(appends);
    await expect(topic.append([entry(Uint8Array.of(1))])).rejects.toMatchObject({ code: 'closed' });
    await expect(topic.endOffsets([start])).rejects.toMatchObject({ code: 'closed' });
    await expect(tail.next()).rejects.toMatchObject({ code: 'closed' });
    expect(await (await open()).read(start, 1_000_000)).toHaveLength(50);
  });

  it('keeps every acknowledged append of a process that is killed', async () => {
    for (let kill = 0; kill < 3; kill++) {
      const acknowledged = await appendUntilKilled(path.join(directory, 'log.db'), 20 + 50 * kill);
      const topic = await open();
      const kept = (await topic.read(start, 100_000_000)).map(({ value }) => Buffer.from(value ?? []).toString());
      expect(kept).toEqual(expect.arrayContaining(acknowledged));
      expect(new Set(kept).size).toBe(kept.length);
      await topic.close();
    }
  });

  it('ends a waiting tail when it closes', async () => {
    const topic = await open();
    const waiting = topic.tail([start], new AbortController().signal)[Symbol.asyncIterator]().next();
    const ended = expect(waiting).rejects.toMatchObject({ code: 'closed' });
    await topic.close();
    await ended;
  });
});

/** Appends from another process, which is killed in the middle of its work; answers what it said was durable. */
async function appendUntilKilled(file: string, acknowledgements: number): Promise<string[]> {
  const script = `
    const { EmbeddedTopic } = await import(${JSON.stringify(new URL('./embedded-topic.ts', import.meta.url).href)});
    const topic = await EmbeddedTopic.open(${JSON.stringify({ file, partitions })});
    const append = async (caller) => {
      for (let n = 0; ; n++) {
        const text = [process.pid, caller, n].join(':');
        await topic.append([{ topic: 'sessions-01', partition: 0, key: 'a', value: Buffer.from(text) }]);
        process.stdout.write(text + '\\n');
      }
    };
    for (let caller = 0; caller < 8; caller++) void append(caller);
  `;
  const child = spawn(process.execPath, ['--conditions=@manyhands/source', '--input-type=module', '--eval', script]);
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.split('\n').length > acknowledgements) child.kill('SIGKILL');
  }
  return output.split('\n').slice(0, -1);
}

function expectWithoutGaps(messages: readonly TopicMessage[]): void {
  for (const of of new Set(messages.map(({ partition }) => partition)))
    expect(messages.filter(({ partition }) => partition === of).map(({ offset }) => offset)).toEqual(
      messages.filter(({ partition }) => partition === of).map((_, n) => n),
    );
}
