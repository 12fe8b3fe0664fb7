import { randomBytes } from 'node:crypto';
import type { Clock } from '@manyhands/ports';
import type { Instant } from '@manyhands/protocol';

/** A longer timer fires at once, because Node keeps its delay in 31 bits. */
const longestTimerMs = 2 ** 31 - 1;

export class SystemClock implements Clock {
  now(): Instant {
    return Date.now() as Instant;
  }

  monotonicMs(): number {
    return performance.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const due = performance.now() + ms;
    // Timers may fire a fraction of a millisecond early, and none lasts for ever: look again.
    for (;;) {
      const rest = due - performance.now();
      if (rest <= 0 || signal?.aborted) return;
      await timer(Math.min(Math.ceil(rest), longestTimerMs), signal);
    }
  }

  randomBytes(length: number): Uint8Array {
    return new Uint8Array(randomBytes(length));
  }

  random(): number {
    return Math.random();
  }
}

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timeout);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timeout = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}
