import { TopicError, type TopicEntry } from '@manyhands/ports';
import { MemoryTopic, type AppendFault } from '@manyhands/ports/testing';
import { topics, type Instant } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';
import { newCounters } from '../counters.ts';
import { GroupCommit } from './group-commit.ts';

const entry = (key: string): TopicEntry => ({ topic: topics.sessions, partition: 0, key, value: new Uint8Array(1) });

describe('GroupCommit', () => {
  it('writes at once when idle, and what arrives meanwhile in one group after it', async () => {
    const groups: string[][] = [];
    const gate = Promise.withResolvers<void>();
    const topic = new MemoryTopic({
      now: () => 1 as Instant,
      appending: async (entries): Promise<AppendFault> => {
        groups.push(entries.map(({ key }) => key));
        if (groups.length === 1) await gate.promise;
        return { kind: 'none' };
      },
    });
    const commits = new GroupCommit({ topic, counters: newCounters() });
    const first = commits.append(entry('a'));
    await Promise.resolve();
    await Promise.resolve();
    const rest = ['b', 'c', 'd'].map((key) => commits.append(entry(key)));
    gate.resolve();
    await Promise.all([first, ...rest]);
    expect(groups).toEqual([['a'], ['b', 'c', 'd']]);
    expect(topic.messages({ topic: topics.sessions, partition: 0 }).map(({ key }) => key)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
  });

  it('tells every writer of a group that failed, and goes on', async () => {
    const faults: AppendFault[] = [{ kind: 'unavailable' }];
    const topic = new MemoryTopic({ now: () => 1 as Instant, appending: () => faults.shift() ?? { kind: 'none' } });
    const commits = new GroupCommit({ topic, counters: newCounters() });
    const results = await Promise.allSettled([commits.append(entry('a')), commits.append(entry('b'))]);
    expect(results.map((result) => result.status === 'rejected' && result.reason instanceof TopicError)).toEqual([
      true,
      true,
    ]);
    await commits.append(entry('c'));
    expect(topic.messages({ topic: topics.sessions, partition: 0 }).map(({ key }) => key)).toEqual(['c']);
  });
});
