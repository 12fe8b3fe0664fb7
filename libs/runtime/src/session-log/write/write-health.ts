/** Says in the server's own log that the session log cannot be written, once a minute at most, and when it can again. */
import type { Clock, Logger } from '@manyhands/ports';

const sayAgainMs = 60_000;

export class WriteHealth {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #saidAt: number | null = null;
  #isFailing = false;
  #failures = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** How a write ended; null: it is durable. */
  written(failure: unknown): void {
    if (failure === null) this.#succeeded();
    else this.#failed(failure);
  }

  #succeeded(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#logger.info({ failures: this.#failures }, 'the log can be written again');
    this.#failures = 0;
  }

  #failed(failure: unknown): void {
    this.#isFailing = true;
    this.#failures++;
    const now = this.#clock.monotonicMs();
    if (this.#saidAt !== null && now - this.#saidAt < sayAgainMs) return;
    this.#saidAt = now;
    this.#logger.warn({ failures: this.#failures, cause: String(failure) }, 'the log cannot be written');
  }
}
