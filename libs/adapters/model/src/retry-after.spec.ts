import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

describe('retry-after', () => {
  beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) }));
  afterEach(() => vi.useRealTimers());

  it.each<[Record<string, string>, number | null]>([
    [{}, null],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Tue, 01 Jan 2030 00:00:09 GMT' }, 9000],
    [{ 'retry-after': 'Mon, 31 Dec 2029 23:59:59 GMT' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after-ms': '250', 'retry-after': '1' }, 250],
    [{ 'retry-after-ms': 'x', 'retry-after': '1' }, 1000],
    [{ 'retry-after-ms': '-5' }, 0],
  ])('reads %o as %s', (headers, expected) => {
    expect(retryAfterMs(new Headers(headers))).toBe(expected);
  });
});
