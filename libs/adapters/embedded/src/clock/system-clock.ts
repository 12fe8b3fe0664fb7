import { randomFillSync } from 'node:crypto';
import type { Clock } from '@manyhands/ports';
import type { Instant } from '@manyhands/protocol';

/** A longer timer fires at once, because Node keeps its delay in 31 bits. */
const longestTimerMs = 2 ** 31 - 1;

/** Random bytes are drawn in advance: the generator takes ten times as long for each call as for these bytes. */
const poolBytes = 4_096;

export class SystemClock implements Clock {
  readonly #pool = new Uint8Array(poolBytes);
  #drawn = poolBytes;

  now(): Instant {
    return Date.now() as Instant;
  }

  monotonicMs(): number {
    return performance.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const due = performance.now() + ms;
    if (ms <= 0 && !signal?.aborted) await new Promise(setImmediate);
    // Timers may fire a fraction of a millisecond early, and none lasts for ever: look again.
    for (;;) {
      const rest = due - performance.now();
      if (rest <= 0 || signal?.aborted) return;
      await timer(Math.min(Math.ceil(rest), longestTimerMs), signal);
    }
  }

  randomBytes(length: number): Uint8Array {
    if (length > poolBytes) return randomFillSync(new Uint8Array(length));
    if (this.#drawn + length > poolBytes) {
      randomFillSync(this.#pool);
      this.#drawn = 0;
    }
    const bytes = this.#pool.slice(this.#drawn, this.#drawn + length);
    // They may become a key, so they are nowhere else.
    this.#pool.fill(0, this.#drawn, this.#drawn + length);
    this.#drawn += length;
    return bytes;
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
