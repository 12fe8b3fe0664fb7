import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { IdleEnd } from './idle-end.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('comes after the idle time, counted from the last contact', () => {
  const end = vi.fn();
  const idle = new IdleEnd(1_000, () => false, end);
  vi.advanceTimersByTime(900);
  idle.postpone();
  vi.advanceTimersByTime(900);
  expect(end).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  expect(end).toHaveBeenCalledOnce();
});

it('does not come while something runs, and leaves the full time after it', () => {
  const end = vi.fn();
  let busy = true;
  const idle = new IdleEnd(1_000, () => busy, end);
  vi.advanceTimersByTime(10_500);
  busy = false;
  idle.postpone();
  vi.advanceTimersByTime(900);
  expect(end).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  expect(end).toHaveBeenCalledOnce();
});
