import type { MessagesRequest } from './messages-api.ts';

/** One request to the model. Times are milliseconds since the epoch, with fractions. */
export interface LoggedRequest {
  /** Counts from 1. */
  number: number;
  conversation: string;
  /** Position in the script; -1 without one. */
  turn: number;
  arrivedAt: number;
  /** When the first byte was written; null until then, and for ever in a silence. */
  answeredAt: number | null;
  /** When the connection was closed before the answer was whole, by either side. */
  abortedAt: number | null;
  status: number;
}

const maxRequests = 20_000;
const maxBodies = 200;
const maxBodyBytes = 32 * 1024 * 1024;

/** What arrived, for tests and benches: all requests in short, and the bodies of the last ones. Bounded. */
export class RequestLog {
  #count = 0;
  #requests: LoggedRequest[] = [];
  #bodies: { number: number; bytes: number; body: MessagesRequest }[] = [];
  #bodyBytes = 0;

  add(arrivedAt: number, body: MessagesRequest, bytes: number): LoggedRequest {
    const request: LoggedRequest = {
      number: ++this.#count,
      conversation: '',
      turn: -1,
      arrivedAt,
      answeredAt: null,
      abortedAt: null,
      status: 200,
    };
    this.#requests.push(request);
    // Dropping half at once keeps the cost of a bounded list constant per request.
    if (this.#requests.length > 2 * maxRequests) this.#requests = this.#requests.slice(-maxRequests);
    this.#bodies.push({ number: request.number, bytes, body });
    this.#bodyBytes += bytes;
    while (this.#bodies.length > maxBodies || (this.#bodyBytes > maxBodyBytes && this.#bodies.length > 1)) {
      this.#bodyBytes -= this.#bodies.shift()?.bytes ?? 0;
    }
    return request;
  }

  /** How many requests there were since the start or the last `clear`. */
  get count(): number {
    return this.#count;
  }

  requests(conversation?: string): LoggedRequest[] {
    return this.#requests.filter((request) => conversation === undefined || request.conversation === conversation);
  }

  /** The last bodies, oldest first. */
  bodies(conversation?: string): MessagesRequest[] {
    const numbers = new Set(this.requests(conversation).map((request) => request.number));
    return this.#bodies.filter((kept) => numbers.has(kept.number)).map((kept) => kept.body);
  }

  clear(): void {
    this.#count = 0;
    this.#requests = [];
    this.#bodies = [];
    this.#bodyBytes = 0;
  }
}

/** Now, in milliseconds since the epoch with fractions; comparable between processes of one machine. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
