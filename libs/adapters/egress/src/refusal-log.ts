import type { Logger } from '@manyhands/ports';
import { EgressError } from './egress-error.ts';

export interface RefusedRequest {
  method: string;
  target: { host: string; port: number } | null;
}

const WINDOW_MS = 60_000;
const LINES_PER_WINDOW = 30;

/**
 * Writes down what a session was refused: method, host and port, never a path, a query, a field or a body. A sandbox that
 * knocks all day fills a bounded number of lines; what was left out is counted in the next one.
 */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #sessionKey: string;
  #windowStart = 0;
  #lines = 0;
  #leftOut = 0;

  constructor(logger: Logger, sessionKey: string) {
    this.#logger = logger;
    this.#sessionKey = sessionKey;
  }

  write(error: EgressError, { method, target }: RefusedRequest): void {
    const now = performance.now();
    if (now - this.#windowStart > WINDOW_MS) {
      this.#windowStart = now;
      this.#lines = 0;
    }
    if (this.#lines >= LINES_PER_WINDOW) {
      this.#leftOut += 1;
      return;
    }
    this.#lines += 1;
    const fields = { sessionId: this.#sessionKey, reason: error.code, method, host: target?.host, port: target?.port };
    this.#logger.warn({ ...fields, ...(this.#leftOut > 0 && { leftOut: this.#leftOut }) }, 'egress refused');
    this.#leftOut = 0;
  }
}
