/**
 * The end of the HTTP server: readiness goes off, streams deliver what is committed and end, and requests in flight get
 * their answers. Only then may the connections be closed: cutting them first would lose answers, and without cutting them
 * at all an idle keep-alive connection holds the process.
 */
import type { Server } from 'node:http';

import type { Clock } from '@manyhands/ports';

import type { OpenStreams } from './stream/open-streams.ts';

const lookAgainMs = 20;
/** Reading what is committed takes milliseconds. Who has not taken it by then reads too slowly to be waited for. */
const finishStreamsMs = 1_000;

export class Drain {
  readonly #streams: OpenStreams;
  readonly #clock: Clock;
  #inFlight = 0;
  #isDraining = false;

  constructor(streams: OpenStreams, clock: Clock) {
    this.#streams = streams;
    this.#clock = clock;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Counts what is in flight on a server, streams included. */
  watch(server: Server): void {
    server.prependListener('request', (_request, response) => {
      this.#inFlight++;
      response.once('close', () => this.#inFlight--);
    });
  }

  /** Readiness goes off, so that nobody new is sent here; whoever comes is still served. */
  begin(): void {
    this.#isDraining = true;
  }

  /** Resolves when nothing is in flight, or when the time is up. */
  async run(limitMs: number): Promise<void> {
    this.begin();
    this.#streams.finishAll();
    const start = this.#clock.monotonicMs();
    await this.#untilQuiet(start + Math.min(limitMs, finishStreamsMs));
    this.#streams.endAll();
    await this.#untilQuiet(start + limitMs);
  }

  async #untilQuiet(untilMs: number): Promise<void> {
    while (this.#inFlight > 0 && this.#clock.monotonicMs() < untilMs) await this.#clock.sleep(lookAgainMs);
  }
}
