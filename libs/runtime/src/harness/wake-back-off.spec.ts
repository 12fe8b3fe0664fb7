import { describe, expect, it } from 'vitest';
import type { SessionId } from '@manyhands/protocol';
import { WakeBackOff } from './wake-back-off.ts';

const session = 'sesn_01one' as SessionId;
const other = 'sesn_01other' as SessionId;

describe('the back-off of wakes', () => {
  let now = 0;
  const begin = (): WakeBackOff => new WakeBackOff({ monotonicMs: () => now });

  it('doubles to half a minute', () => {
    const backOff = begin();
    const delays = Array.from({ length: 9 }, () => {
      backOff.failed(session);
      const delayMs = backOff.remainingMs(session);
      now += delayMs;
      return delayMs;
    });
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(backOff.remainingMs(session)).toBe(0);
  });

  it('concerns one session, and ends with a success', () => {
    const backOff = begin();
    backOff.failed(session);
    expect(backOff.remainingMs(other)).toBe(0);
    backOff.succeeded(session);
    expect(backOff.remainingMs(session)).toBe(0);
    backOff.failed(session);
    expect(backOff.remainingMs(session)).toBe(500);
  });

  it('forgets what nobody wakes any more', () => {
    const backOff = begin();
    backOff.failed(session);
    now += 60_000;
    backOff.failed(other);
    backOff.failed(session);
    expect(backOff.remainingMs(session)).toBe(500);
  });
});
