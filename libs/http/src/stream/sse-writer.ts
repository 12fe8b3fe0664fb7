/**
 * Writes one event stream on a raw response.
 *
 * - `write` sends at once, together with what `writeSoon` left; both keep the order in which they were called.
 * - `writeSoon` joins what one turn of the event loop brings: a model's tokens come one by one.
 * - While the client does not read (`isFull`), Node holds the overhang in memory. So nobody writes then, and `drained`
 *   says when to go on. The connection is cut when nothing moves for the stall limit: Node's socket timeout counts every
 *   byte that the client takes, so a slow client with a large event is not mistaken for one that is gone.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

import type { Clock } from '@manyhands/ports';

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Nginx would hold events back to fill its buffers.
  'x-accel-buffering': 'no',
};

export class SseWriter {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #stallLimitMs: number;
  #soon = '';
  #flush: NodeJS.Immediate | null = null;
  #waiting: (() => void)[] = [];
  #isFull = false;
  #wasCut = false;
  #lastWriteMs: number;

  constructor(response: ServerResponse, clock: Clock, stallLimitMs: number) {
    this.#response = response;
    this.#clock = clock;
    this.#stallLimitMs = stallLimitMs;
    this.#lastWriteMs = clock.monotonicMs();
    response.on('drain', () => this.#goOn());
    response.on('close', () => this.#goOn());
    response.on('timeout', () => this.#cut());
    // A broken connection is a client that left; 'close' follows and is what counts.
    response.on('error', () => {});
  }

  open(headers: OutgoingHttpHeaders): void {
    this.#response.writeHead(200, { ...headers, ...streamHeaders });
    this.#response.flushHeaders();
  }

  write(text: string): void {
    if (this.#flush !== null) clearImmediate(this.#flush);
    this.#flush = null;
    const all = this.#soon + text;
    this.#soon = '';
    if (all === '' || this.isClosed) return;
    this.#lastWriteMs = this.#clock.monotonicMs();
    if (!this.#response.write(all)) this.#watch();
  }

  writeSoon(text: string): void {
    this.#soon += text;
    this.#flush ??= setImmediate(() => this.write(''));
  }

  /** Resolves when the client has taken enough, or has left. */
  drained(): Promise<void> {
    if (!this.isFull || this.isClosed) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  get isClosed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  /** Whether it ended because nobody read it. */
  get wasCut(): boolean {
    return this.#wasCut;
  }

  get lastWriteMs(): number {
    return this.#lastWriteMs;
  }

  /** Ends the stream as its client expects it: everything written arrives first. */
  end(): void {
    this.write('');
    if (this.isClosed) return;
    this.#response.end();
    // Whoever does not take the rest either is cut like one who reads nothing.
    this.#watch();
  }

  #watch(): void {
    this.#isFull = true;
    this.#response.socket?.setTimeout(this.#stallLimitMs);
  }

  #cut(): void {
    this.#wasCut = true;
    this.#response.destroy();
  }

  #goOn(): void {
    this.#isFull = false;
    this.#response.socket?.setTimeout(0);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
