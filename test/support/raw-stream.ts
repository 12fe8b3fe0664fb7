/** An event stream as its bytes say: with the `id:` lines, which the SDKs do not show. */
import type { ServerProcess } from './server-process.ts';

export interface StreamMessage {
  event: string;
  id?: string;
  data: unknown;
}

export const betaHeaders = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'managed-agents-2026-04-01' };

export class StreamRefused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the stream answered ${status}`);
    this.status = status;
  }
}

export class RawStream {
  readonly #parts: AsyncIterator<string>;
  readonly #abort: AbortController;
  #text = '';

  constructor(body: ReadableStream<Uint8Array>, abort: AbortController) {
    this.#parts = body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
    this.#abort = abort;
  }

  /** Messages up to the first that is wanted, which is the last one given. */
  async readUntil(isLast: (message: StreamMessage) => boolean): Promise<StreamMessage[]> {
    const messages: StreamMessage[] = [];
    for (;;) {
      const message = await this.#next();
      messages.push(message);
      if (isLast(message)) return messages;
    }
  }

  /** So many messages, pings apart. */
  async readCount(count: number): Promise<StreamMessage[]> {
    const messages: StreamMessage[] = [];
    while (messages.length < count) {
      const message = await this.#next();
      if (message.event !== 'ping') messages.push(message);
    }
    return messages;
  }

  close(): void {
    this.#abort.abort();
  }

  async #next(): Promise<StreamMessage> {
    let end: number;
    while ((end = this.#text.indexOf('\n\n')) < 0) {
      const part = await this.#parts.next();
      if (part.done) throw new Error('the stream ended');
      this.#text += part.value;
    }
    const message = parseMessage(this.#text.slice(0, end));
    this.#text = this.#text.slice(end + 2);
    return message;
  }
}

export async function openRawStream(
  server: ServerProcess,
  sessionId: string,
  { lastEventId }: { lastEventId?: string | undefined } = {},
): Promise<RawStream> {
  const abort = new AbortController();
  const response = await fetch(`${server.url}/v1/sessions/${sessionId}/events/stream`, {
    headers: {
      ...betaHeaders,
      authorization: `Bearer ${server.apiKey}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
    signal: abort.signal,
  });
  if (!response.ok || !response.body) throw new StreamRefused(response.status);
  return new RawStream(response.body, abort);
}

function parseMessage(text: string): StreamMessage {
  const fields = new Map(text.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]));
  const id = fields.get('id');
  return {
    event: fields.get('event') ?? '',
    ...(id !== undefined && { id }),
    data: JSON.parse(fields.get('data') ?? ''),
  };
}
