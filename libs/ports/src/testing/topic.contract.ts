import { topics } from '@manyhands/protocol';
import type { Offset, TopicName } from '@manyhands/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Topic, TopicEntry, TopicMessage, TopicPosition } from '../topic.ts';
import { patient, unhurried } from './patience.ts';

export interface TopicUnderTest {
  topic: Topic;
  /** The same topics as a process started later finds them; `topic` is not used after it. */
  reopen(): Promise<Topic>;
  close(): Promise<void>;
}

/**
 * What every topic promises. It is opened once; tests start from the ends they find and use keys of their own, because
 * topics of a real broker are dear to make.
 */
export function topicContract(name: string, open: () => Promise<TopicUnderTest>): void {
  describe(`topic contract: ${name}`, unhurried, () => {
    let under: TopicUnderTest;
    beforeAll(async () => {
      under = await open();
    });
    afterAll(() => under.close());

    const topic = () => under.topic;
    const { sessions, keys } = topics;

    it('returns what was appended in order, with rising offsets and times that never run backwards', async () => {
      const from = await endOf(topic(), sessions);
      await topic().append(entries(sessions, ['a', 'b', 'c']));
      await topic().append(entries(sessions, ['d']));

      const messages = await readAll(topic(), from);
      expect(texts(messages)).toEqual(['a', 'b', 'c', 'd']);
      expectRising(messages);
      expect(messages.map(({ topic, partition, key }) => ({ topic, partition, key }))).toEqual(
        Array.from({ length: 4 }, () => ({ topic: sessions, partition: 0, key: 'key' })),
      );
    });

    it('keeps bytes and keys as they are, whatever they mean', async () => {
      const from = await endOf(topic(), sessions);
      const values = [new Uint8Array(0), Uint8Array.from({ length: 256 }, (_, byte) => byte), bytesOf('{"v":')];
      await topic().append(values.map((value) => ({ topic: sessions, partition: 0, key: 'sesn_é/日本', value })));

      const messages = await readAll(topic(), from);
      expect(messages.map(({ value }) => value && [...value])).toEqual(values.map((value) => [...value]));
      expect(messages[0]?.key).toBe('sesn_é/日本');
    });

    it('keeps partitions and topics apart', async () => {
      const last = topic().partitionsOf(sessions) - 1;
      const places: [TopicName, number][] = [
        [sessions, 0],
        [topics.resources, 0],
      ];
      if (last > 0) places.push([sessions, last]);
      const from = await Promise.all(places.map(([of, partition]) => endOf(topic(), of, partition)));
      await topic().append(
        places.map(([of, partition]) => ({ topic: of, partition, key: 'key', value: bytesOf(`${of}/${partition}`) })),
      );

      for (const position of from)
        expect(texts(await readAll(topic(), position))).toEqual([`${position.topic}/${position.partition}`]);
    });

    it('keeps the order of each of many callers', async () => {
      const from = await endOf(topic(), sessions);
      const callers = Array.from({ length: 20 }, (_, caller) => caller);
      await Promise.all(
        callers.map(async (caller) => {
          for (let n = 0; n < 10; n++) await topic().append(entries(sessions, [`${caller}:${n}`]));
        }),
      );

      const all = texts(await readAll(topic(), from));
      expect(all).toHaveLength(200);
      for (const caller of callers)
        expect(all.filter((text) => text.startsWith(`${caller}:`))).toEqual(
          Array.from({ length: 10 }, (_, n) => `${caller}:${n}`),
        );
    });

    it('keeps the entries of one call in order among the calls in flight', async () => {
      const from = await endOf(topic(), sessions);
      const calls = Array.from({ length: 10 }, (_, call) => Array.from({ length: 5 }, (_, n) => `${call}:${n}`));
      await Promise.all(calls.map((call) => topic().append(entries(sessions, call))));

      const all = texts(await readAll(topic(), from));
      for (const call of calls) expect(all.filter((text) => call.includes(text))).toEqual(call);
    });

    it('has an end after the last message, also for a caller that asks right after the append', async () => {
      const before = await endOf(topic(), sessions);
      await topic().append(entries(sessions, ['x', 'y']));
      const after = await endOf(topic(), sessions);
      const messages = await readAll(topic(), before);
      expect(after.offset).toBe((messages.at(-1)?.offset ?? 0) + 1);
    });

    it('answers ends in the order of the question', async () => {
      const asked = [topics.resources, sessions].map((of) => ({ topic: of, partition: 0 }));
      expect(await topic().endOffsets(asked)).toMatchObject(asked);
    });

    it('reads nothing at the end, and takes an offset beyond it for an error', async () => {
      const end = await endOf(topic(), sessions);
      expect(await topic().read(end, 1_000_000)).toEqual([]);
      const beyond = { ...end, offset: (end.offset + 1_000) as Offset };
      await expect(topic().read(beyond, 1_000_000)).rejects.toMatchObject({ name: 'TopicError', code: 'out-of-range' });
    });

    it('reads about as much as asked for, and at least one message', async () => {
      const from = await endOf(topic(), sessions);
      const big = bytesOf('x'.repeat(100_000));
      for (let n = 0; n < 5; n++) await topic().append([{ topic: sessions, partition: 0, key: 'key', value: big }]);

      expect((await topic().read(from, 1)).length).toBeGreaterThanOrEqual(1);
      expect((await topic().read(from, 250_000)).length).toBeLessThan(5);
      expect(await readAll(topic(), from)).toHaveLength(5);
    });

    it('takes a message of 512 KiB and more than that in one call', async () => {
      const from = await endOf(topic(), sessions);
      const commit = new Uint8Array(512 * 1024).fill(65);
      await topic().append(
        Array.from({ length: 4 }, () => ({ topic: sessions, partition: 0, key: 'key', value: commit })),
      );
      const messages = await readAll(topic(), from);
      expect(messages.map(({ value }) => value?.length)).toEqual(Array.from({ length: 4 }, () => commit.length));
    });

    it('holds a commit topic from its first offset on', async () => {
      expect(await topic().startOffset({ topic: sessions, partition: 0 })).toBe(0);
    });

    it('appends nothing when there is nothing to append', async () => {
      const before = await endOf(topic(), sessions);
      await topic().append([]);
      expect(await endOf(topic(), sessions)).toEqual(before);
    });

    it('returns a tombstone as null, after every value of its key', async () => {
      const from = await endOf(topic(), keys);
      await topic().append([entryOf('stream/one', 'secret'), entryOf('stream/two', 'kept')]);
      await topic().append([{ ...entryOf('stream/one', ''), value: null }]);

      const values = new Map((await readAll(topic(), from)).map(({ key, value }) => [key, value && textOf(value)]));
      expect(values).toEqual(
        new Map([
          ['stream/one', null],
          ['stream/two', 'kept'],
        ]),
      );
    });

    it('keeps the newest value of a key', async () => {
      const from = await endOf(topic(), keys);
      for (const text of ['first', 'second', 'third']) await topic().append([entryOf('stream/three', text)]);
      const messages = await readAll(topic(), from);
      expect(texts(messages).at(-1)).toBe('third');
      expectRising(messages);
    });

    it('tails from a position without gaps, and goes on with what is appended later', async () => {
      const from = await endOf(topic(), sessions);
      await topic().append(entries(sessions, ['before 1', 'before 2']));
      const tail = follow(topic(), [from]);
      await expect.poll(() => texts(tail.messages), patient).toEqual(['before 1', 'before 2']);

      await topic().append(entries(sessions, ['after 1']));
      await topic().append(entries(sessions, ['after 2', 'after 3']));
      await expect
        .poll(() => texts(tail.messages), patient)
        .toEqual(['before 1', 'before 2', 'after 1', 'after 2', 'after 3']);
      expectRising(tail.messages);
      await tail.stop();
    });

    it('tails several partitions, each in order', async () => {
      const places = [sessions, topics.resources, keys];
      const from = await Promise.all(places.map((of) => endOf(topic(), of)));
      const tail = follow(topic(), from);
      for (let n = 0; n < 20; n++)
        await topic().append(
          places.map((of) => ({ topic: of, partition: 0, key: `k${n}`, value: bytesOf(`${of} ${n}`) })),
        );

      await expect.poll(() => tail.messages.length, patient).toBe(60);
      for (const of of places)
        expect(texts(tail.messages.filter(({ topic }) => topic === of))).toEqual(
          Array.from({ length: 20 }, (_, n) => `${of} ${n}`),
        );
      await tail.stop();
    });

    it('misses nothing in a tail that is opened amid appends', async () => {
      const from = await endOf(topic(), sessions);
      const numbers = Array.from({ length: 200 }, (_, n) => String(n));
      const tails: Following[] = [];
      for (const [n, text] of numbers.entries()) {
        const appended = topic().append(entries(sessions, [text]));
        if (n % 40 === 0) tails.push(follow(topic(), [from]));
        await appended;
      }
      for (const tail of tails) {
        await expect.poll(() => tail.messages.length, patient).toBe(200);
        expect(texts(tail.messages)).toEqual(numbers);
        await tail.stop();
      }
    });

    it('feeds a reader that is slower than the appends everything in order', async () => {
      const from = await endOf(topic(), sessions);
      await topic().append(entries(sessions, ['0']));
      const stop = new AbortController();
      const seen: TopicMessage[] = [];
      let appended = 1;
      for await (const batch of topic().tail([from], stop.signal)) {
        seen.push(...batch);
        // Nobody waits for the tail while these are appended.
        for (let n = 0; n < 3 && appended < 60; n++) await topic().append(entries(sessions, [String(appended++)]));
        if (seen.length === 60) stop.abort();
      }
      expect(texts(seen)).toEqual(Array.from({ length: 60 }, (_, n) => String(n)));
    });

    it('ends a tail when its signal aborts, also one that waits', async () => {
      const tail = follow(topic(), [await endOf(topic(), sessions)]);
      await tail.stop();
      expect(tail.messages).toEqual([]);
      await follow(topic(), [await endOf(topic(), sessions)], AbortSignal.abort()).ended;
    });

    it('is the same after it was opened again', async () => {
      const from = await endOf(topic(), sessions);
      await topic().append(entries(sessions, ['one', 'two']));
      const before = await readAll(topic(), from);
      const end = await endOf(topic(), sessions);

      const again = await under.reopen();
      expect(await readAll(again, from)).toEqual(before);
      expect(await endOf(again, sessions)).toEqual(end);
      await again.append(entries(sessions, ['three']));
      expect(texts(await readAll(again, from))).toEqual(['one', 'two', 'three']);
      expectRising(await readAll(again, from));
    });
  });
}

function entries(topic: TopicName, values: readonly string[]): TopicEntry[] {
  return values.map((text) => ({ topic, partition: 0, key: 'key', value: bytesOf(text) }));
}

function entryOf(key: string, text: string): TopicEntry {
  return { topic: topics.keys, partition: 0, key, value: bytesOf(text) };
}

async function endOf(topic: Topic, of: TopicName, partition = 0): Promise<TopicPosition> {
  const [end] = await topic.endOffsets([{ topic: of, partition }]);
  return end as TopicPosition;
}

async function readAll(topic: Topic, from: TopicPosition): Promise<TopicMessage[]> {
  const messages: TopicMessage[] = [];
  for (let offset = from.offset; ;) {
    const page = await topic.read({ ...from, offset }, 1_000_000);
    if (page.length === 0) return messages;
    messages.push(...page);
    offset = ((page.at(-1) as TopicMessage).offset + 1) as Offset;
  }
}

interface Following {
  messages: TopicMessage[];
  ended: Promise<void>;
  stop(): Promise<void>;
}

function follow(topic: Topic, from: readonly TopicPosition[], signal?: AbortSignal): Following {
  const stop = new AbortController();
  const messages: TopicMessage[] = [];
  const ended = (async () => {
    for await (const batch of topic.tail(from, signal ?? stop.signal)) {
      expect(batch.length).toBeGreaterThan(0);
      messages.push(...batch);
    }
  })();
  return {
    messages,
    ended,
    stop: () => {
      stop.abort();
      return ended;
    },
  };
}

function texts(messages: readonly TopicMessage[]): string[] {
  return messages.map(({ value }) => (value ? textOf(value) : ''));
}

function expectRising(messages: readonly TopicMessage[]): void {
  messages.slice(1).forEach((message, index) => {
    const previous = messages[index] as TopicMessage;
    expect(message.offset).toBeGreaterThan(previous.offset);
    expect(message.appendedAt).toBeGreaterThanOrEqual(previous.appendedAt);
  });
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
