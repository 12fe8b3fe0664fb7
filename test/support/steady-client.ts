/** A client that does not give up while the server is away, as a careful application would be written. */
import Anthropic, { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import type { ServerProcess } from './server-process.ts';

type WriteOptions = { headers: { 'Idempotency-Key': string } };

const giveUpAfterMs = 120_000;
const pauseMs = 50;

export class SteadyClient {
  readonly #server: ServerProcess;
  /** Requests that had to be sent again. */
  repeated = 0;

  constructor(server: ServerProcess) {
    this.#server = server;
  }

  /** Sends it under one `Idempotency-Key` until it is answered. A refusal is an answer. */
  async write<T>(request: (client: Anthropic, options: WriteOptions) => Promise<T>): Promise<T> {
    const options = { headers: { 'Idempotency-Key': crypto.randomUUID() } };
    return this.read((client) => request(client, options));
  }

  async read<T>(request: (client: Anthropic) => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + giveUpAfterMs;
    for (;;) {
      try {
        return await request(this.#server.client());
      } catch (error) {
        if (this.#server.unexpectedEnd) throw this.#server.unexpectedEnd;
        if (!isAway(error) || performance.now() > giveUpAt) throw error;
        this.repeated++;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }
}

/** Any other failure of the server is one that no restart explains. */
export function isAway(error: unknown): boolean {
  return error instanceof APIConnectionError || (error instanceof APIError && error.status === 503);
}
