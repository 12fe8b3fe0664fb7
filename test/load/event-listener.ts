/** Reads an event stream with as little work as can be, so that a message's time is the server's and not the client's. */
import { request } from 'undici';
import { preciseNow } from '@manyhands/adapter-scripted-model';

export interface StreamMessage {
  type: string;
  data: string;
  /** When its bytes were read, in milliseconds since the epoch. */
  at: number;
}

type Waiter = { wants: (message: StreamMessage) => boolean; resolve: (message: StreamMessage) => void };

export class EventListener {
  readonly #controller = new AbortController();
  #waiting: Waiter[] = [];
  #rest = '';

  /** Resolves when the answer's head is here: from then on nothing is missed. */
  static async open(url: string, headers: Record<string, string>): Promise<EventListener> {
    const listener = new EventListener();
    const { body, statusCode } = await request(url, { headers, signal: listener.#controller.signal, bodyTimeout: 0 });
    if (statusCode !== 200) throw new Error(`GET ${url} answered ${statusCode}: ${await body.text()}`);
    body.setEncoding('utf8');
    body.on('data', (chunk: string) => listener.#take(chunk));
    body.on('error', () => {}); // Closing it is what ends it.
    return listener;
  }

  /** The next message from now on that is wanted. */
  next(wants: (message: StreamMessage) => boolean): Promise<StreamMessage> {
    return new Promise((resolve) => this.#waiting.push({ wants, resolve }));
  }

  nextOf(type: string): Promise<StreamMessage> {
    return this.next((message) => message.type === type);
  }

  close(): void {
    this.#controller.abort();
  }

  #take(chunk: string): void {
    const at = preciseNow();
    const parts = (this.#rest + chunk).split('\n\n');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) this.#tell(parse(part, at));
  }

  #tell(message: StreamMessage): void {
    if (this.#waiting.length === 0) return;
    const [met, unmet] = [[] as Waiter[], [] as Waiter[]];
    for (const waiter of this.#waiting) (waiter.wants(message) ? met : unmet).push(waiter);
    this.#waiting = unmet;
    for (const { resolve } of met) resolve(message);
  }
}

function parse(text: string, at: number): StreamMessage {
  const type = /^event: (.*)$/m.exec(text)?.[1] ?? '';
  return { type, data: text.slice(text.indexOf('data: ') + 'data: '.length), at };
}
