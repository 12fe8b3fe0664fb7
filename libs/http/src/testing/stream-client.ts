/** A client of event streams that shows the bytes: what arrived, in which order, and when it ended. */
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

export interface StreamMessage {
  event?: string;
  id?: string;
  data?: string;
}

export class StreamClient {
  readonly response: IncomingMessage;
  readonly messages: StreamMessage[] = [];
  #ended = false;
  #rest = '';
  #changed = Promise.withResolvers<void>();

  private constructor(response: IncomingMessage) {
    this.response = response;
  }

  /** Resolves when the headers are there. */
  static open(url: string, headers: Record<string, string>, { reads = true } = {}): Promise<StreamClient> {
    return new Promise((resolve, reject) => {
      const request = get(url, { headers, agent: false }, (response) => {
        const client = new StreamClient(response);
        response.on('close', () => client.#close());
        response.on('error', () => {});
        if (reads) client.#read();
        resolve(client);
      });
      request.on('error', reject);
    });
  }

  get headers(): IncomingHttpHeaders {
    return this.response.headers;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Names in order of arrival. */
  get names(): string[] {
    return this.messages.map((message) => message.event ?? '');
  }

  async until(condition: (client: StreamClient) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.#ended) throw new Error(`the stream ended early, after ${this.names.join()}`);
      await this.#changed.promise;
    }
  }

  async untilEnd(): Promise<void> {
    while (!this.#ended) await this.#changed.promise;
  }

  leave(): void {
    this.response.destroy();
  }

  #read(): void {
    this.response.setEncoding('utf8');
    this.response.on('data', (chunk: string) => {
      const parts = (this.#rest + chunk).split('\n\n');
      this.#rest = parts.pop() ?? '';
      this.messages.push(...parts.map(parse));
      this.#tell();
    });
  }

  #close(): void {
    this.#ended = true;
    this.#tell();
  }

  #tell(): void {
    const changed = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    changed.resolve();
  }
}

function parse(text: string): StreamMessage {
  return Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
}
