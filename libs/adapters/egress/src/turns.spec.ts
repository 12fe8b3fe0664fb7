import { describe, expect, it } from 'vitest';
import { Turns } from './turns.ts';

const never = new AbortController().signal;

describe('Turns', () => {
  it('runs no more than its limit at a time, in order, also after failures', async () => {
    const turns = new Turns(2);
    const started: number[] = [];
    let running = 0;
    let most = 0;
    const work = (each: number) => async () => {
      started.push(each);
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running -= 1;
      if (each % 2 === 0) throw new Error('even');
      return each;
    };
    const results = await Promise.allSettled([0, 1, 2, 3, 4, 5].map((each) => turns.take(never, work(each))));
    expect(results.map(({ status }) => status[0])).toEqual(['r', 'f', 'r', 'f', 'r', 'f']);
    expect(started).toEqual([0, 1, 2, 3, 4, 5]);
    expect(most).toBe(2);
  });

  it('lets go of one that no longer wants its turn', async () => {
    const turns = new Turns(1);
    const gate = Promise.withResolvers<void>();
    const first = turns.take(never, () => gate.promise);
    const giveUp = new AbortController();
    const second = turns.take(giveUp.signal, async () => 'second');
    const third = turns.take(never, async () => 'third');
    giveUp.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await expect(turns.take(giveUp.signal, async () => 'fourth')).rejects.toThrow('enough');
    gate.resolve();
    await first;
    expect(await third).toBe('third');
    expect(await turns.take(never, async () => 'last')).toBe('last');
  });
});
