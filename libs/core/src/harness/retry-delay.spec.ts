import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryDelayMs } from './retry-delay.ts';

describe('the wait before a retry', () => {
  it.each([
    [0, 500],
    [1, 1_000],
    [5, 16_000],
    [7, 60_000],
    [400, 60_000],
  ])('after %i failures is at most %i ms, and at least half of that', (failures, longest) => {
    expect(retryDelayMs(failures, null, 0)).toBe(longest / 2);
    expect(retryDelayMs(failures, null, 0.999_999)).toBe(longest - 1);
  });

  it('is never shorter than the provider asked, and never longer than ten minutes and a little', () => {
    fc.assert(
      fc.property(
        fc.nat(20),
        fc.nat(2_000_000),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (failures, asked, random) => {
          const wait = retryDelayMs(failures, asked, random);
          expect(wait).toBeGreaterThanOrEqual(Math.min(asked, 600_000));
          expect(wait).toBeLessThanOrEqual(600_500);
        },
      ),
    );
  });
});
