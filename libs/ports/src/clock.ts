import type { Instant } from '@manyhands/protocol';

/**
 * Time and chance, so that a simulation can own both.
 *
 * - `sleep` resolves after at least that many milliseconds, or at once when the signal aborts (it never rejects); after 0
 *   milliseconds, whatever else was due has had its turn.
 * - `now` never runs faster than real time asks for, but may jump; `monotonicMs` never runs backwards.
 */
export interface Clock {
  now(): Instant;
  monotonicMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Cryptographically random in production, seeded in a simulation. */
  randomBytes(length: number): Uint8Array;
  /** Uniform in [0, 1), for jitter only. */
  random(): number;
}
