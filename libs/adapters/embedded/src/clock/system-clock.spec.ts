import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { SystemClock } from './system-clock.ts';

describe('SystemClock', () => {
  const clock = new SystemClock();

  it('sleeps at least as long as asked', async () => {
    for (const ms of [0, 1, 5, 12.5]) {
      const from = clock.monotonicMs();
      await clock.sleep(ms);
      expect(clock.monotonicMs() - from).toBeGreaterThanOrEqual(ms);
    }
  });

  it('wakes at once when the signal aborts, and leaves no listener behind', async () => {
    const stop = new AbortController();
    const sleeping = clock.sleep(1_000_000_000_000, stop.signal);
    stop.abort();
    await sleeping;
    await clock.sleep(1_000_000, stop.signal);
    const { signal } = new AbortController();
    await clock.sleep(1, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('gives as many random bytes as asked for', () => {
    expect(clock.randomBytes(32)).toHaveLength(32);
    expect([...clock.randomBytes(32)]).not.toEqual([...clock.randomBytes(32)]);
    expect(clock.randomBytes(10_000)).toHaveLength(10_000);
  });

  it('never gives the same random bytes twice, nor bytes that somebody has had', () => {
    const given = Array.from({ length: 2_000 }, () => Buffer.from(clock.randomBytes(12)).toString('hex'));
    expect(new Set(given).size).toBe(given.length);
    expect(given).not.toContain('0'.repeat(24));
  });

  it('lets the event loop turn in a sleep of nothing', async () => {
    let turned = false;
    setImmediate(() => (turned = true));
    await clock.sleep(0);
    expect(turned).toBe(true);
  });
});
