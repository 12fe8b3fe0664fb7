/**
 * Keeps a session whose wakes end by an error from being woken again at once. One that fails behind its claim is counted
 * in the log (H6); one that fails before it leaves no trace but this.
 */
import type { Clock } from '@manyhands/ports';
import type { SessionId } from '@manyhands/protocol';

const firstDelayMs = 500;
const longestDelayMs = 30_000;

interface Failures {
  delayMs: number;
  until: number;
}

export class WakeBackOff {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #failures = new Map<SessionId, Failures>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** How long it is not to be woken yet, in milliseconds. */
  remainingMs(sessionId: SessionId): number {
    const failures = this.#failures.get(sessionId);
    return failures ? Math.max(0, failures.until - this.#clock.monotonicMs()) : 0;
  }

  failed(sessionId: SessionId): void {
    const now = this.#clock.monotonicMs();
    const before = this.#failures.get(sessionId);
    const delayMs = before ? Math.min(2 * before.delayMs, longestDelayMs) : firstDelayMs;
    this.#forgetBefore(now - longestDelayMs);
    this.#failures.set(sessionId, { delayMs, until: now + delayMs });
  }

  succeeded(sessionId: SessionId): void {
    this.#failures.delete(sessionId);
  }

  /** Those that nobody wakes any more: they were deleted, or another worker has them. */
  #forgetBefore(time: number): void {
    for (const [sessionId, { until }] of this.#failures) if (until < time) this.#failures.delete(sessionId);
  }
}
