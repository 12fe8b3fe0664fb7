import type { Clock } from '@manyhands/ports';
import type { Instant } from '@manyhands/protocol';

/** A clock for specs: it stands still until somebody moves it. */
export class ManualClock implements Clock {
  #nowMs = 1_000_000;
  #seed = 0;
  #sleepers: { due: number; wake: () => void }[] = [];

  now(): Instant {
    return this.#nowMs as Instant;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#sleepers.push({ due: this.#nowMs + ms, wake: resolve });
      if (signal?.aborted) resolve();
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  randomBytes(length: number): Uint8Array {
    return new Uint8Array(length).fill(this.#seed++);
  }

  random(): number {
    return 0.5;
  }

  /** Moves on, and wakes whoever is due. */
  advance(ms: number): void {
    this.#nowMs += ms;
    const due = this.#sleepers.filter((sleeper) => sleeper.due <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.due > this.#nowMs);
    for (const { wake } of due) wake();
  }
}
