/** Follows a session's events across restarts of the server, resuming from the last message's id. */
import { openRawStream, type RawStream, StreamRefused } from './raw-stream.ts';
import type { ServerProcess } from './server-process.ts';
import type { SessionEvent } from './stream-recorder.ts';

export interface Delivery {
  /** `seq.n` */
  id: string;
  event: SessionEvent;
}

/** Before the first event of any session. */
const beginning = '0.0';
const pauseMs = 50;
/** Kills in quick succession let a session with a slow model wait for long: one that took down two workers runs alone. */
const waitLimitMs = 300_000;

export class EventFollower {
  readonly deliveries: Delivery[] = [];
  /** Times the stream was opened. */
  connections = 0;
  /** Set when the stream is refused, and how. */
  failure: StreamRefused | null = null;
  readonly #server: ServerProcess;
  readonly #sessionId: string;
  readonly #running: Promise<void>;
  #stream: RawStream | null = null;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  constructor(server: ServerProcess, sessionId: string) {
    this.#server = server;
    this.#sessionId = sessionId;
    this.#running = this.#follow();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The first delivery from a position on that is wanted. */
  async find(what: string, wanted: (event: SessionEvent) => boolean, from = 0): Promise<SessionEvent> {
    const giveUpAt = performance.now() + waitLimitMs;
    for (let next = from; ; await this.change(giveUpAt)) {
      for (; next < this.deliveries.length; next++) {
        const event = this.deliveries[next]?.event;
        if (event && wanted(event)) return event;
      }
      if (this.failure) throw this.failure;
      if (performance.now() > giveUpAt) throw new Error(`${this.#sessionId}: no ${what}; ${this.#lastTypes()}`);
    }
  }

  /** Resolves when something came or the following ended, and at that time at the latest. */
  change(atLatest: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, atLatest - performance.now()));
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stream?.close();
    this.#wake();
    await this.#running;
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed && !this.failure) {
      try {
        await this.#readOnce();
      } catch (error) {
        // Else the server is away, and the next connection resumes.
        if (error instanceof StreamRefused && error.status < 500) this.failure = error;
      }
      this.#stream?.close();
      this.#wake();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async #readOnce(): Promise<void> {
    const lastEventId = this.deliveries.at(-1)?.id ?? beginning;
    this.#stream = await openRawStream(this.#server, this.#sessionId, { lastEventId });
    this.connections++;
    while (!this.#isClosed) {
      const [message] = await this.#stream.readCount(1);
      if (message?.id === undefined) continue;
      this.deliveries.push({ id: message.id, event: message.data as SessionEvent });
      this.#wake();
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #lastTypes(): string {
    return `the last were ${
      this.deliveries
        .slice(-8)
        .map(({ event }) => event.type)
        .join(', ') || 'none'
    }`;
  }
}

/** Positions rise strictly; nothing is delivered twice in the same place. */
export function positionFaults(deliveries: readonly Delivery[]): string[] {
  return deliveries.flatMap(({ id, event }, index) => {
    const before = deliveries[index - 1];
    return before && !isBefore(before.id, id) ? [`stream: ${event.type} at ${id} follows ${before.id}`] : [];
  });
}

function isBefore(one: string, other: string): boolean {
  const [oneSeq = 0, oneN = 0] = one.split('.').map(Number);
  const [otherSeq = 0, otherN = 0] = other.split('.').map(Number);
  return oneSeq < otherSeq || (oneSeq === otherSeq && oneN < otherN);
}
