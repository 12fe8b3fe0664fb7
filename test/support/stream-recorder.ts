/** Reads one event stream through the official client and keeps what it brought, so that a test can wait for it. */
import type Anthropic from '@anthropic-ai/sdk';

export type SessionEvent = Anthropic.Beta.Sessions.BetaManagedAgentsSessionEvent;
export type StreamEvent = Anthropic.Beta.Sessions.BetaManagedAgentsStreamSessionEvents;
export type EventOf<T extends StreamEvent['type']> = Extract<StreamEvent, { type: T }>;
type Deltas = ('agent.message' | 'agent.thinking')[];

const waitLimitMs = 30_000;

export class StreamRecorder {
  readonly events: StreamEvent[] = [];
  /** Settles when the stream is over; with the error that ended it, if one did. */
  readonly ended: Promise<unknown>;
  readonly #abort: () => void;
  #isOver = false;
  #waiting: (() => void)[] = [];

  private constructor(stream: AsyncIterable<StreamEvent> & { controller: AbortController }) {
    this.#abort = () => stream.controller.abort();
    this.ended = this.#read(stream);
  }

  /** Resolves when the headers are here: from then on nothing is missed. */
  static async open(
    client: Anthropic,
    sessionId: string,
    options: { deltas?: Deltas; lastEventId?: string } = {},
  ): Promise<StreamRecorder> {
    const { deltas, lastEventId } = options;
    const stream = await client.beta.sessions.events.stream(
      sessionId,
      deltas ? { event_deltas: deltas } : undefined,
      lastEventId === undefined ? undefined : { headers: { 'Last-Event-ID': lastEventId } },
    );
    return new StreamRecorder(stream);
  }

  /** The first event from a position on that is wanted. Fails when the stream ends before. */
  async find<E extends StreamEvent>(wanted: (event: StreamEvent) => event is E, from?: number): Promise<E>;
  async find(wanted: (event: StreamEvent) => boolean, from?: number): Promise<StreamEvent>;
  async find(wanted: (event: StreamEvent) => boolean, from = 0): Promise<StreamEvent> {
    const giveUpAt = performance.now() + waitLimitMs;
    for (let next = from; ;) {
      for (; next < this.events.length; next++) {
        const event = this.events[next];
        if (event && wanted(event)) return event;
      }
      const leftMs = giveUpAt - performance.now();
      if (this.#isOver || leftMs <= 0) throw new Error(`not among the events of the stream: ${this.#shown()}`);
      await this.#change(leftMs);
    }
  }

  async findType<T extends StreamEvent['type']>(type: T, from = 0): Promise<EventOf<T>> {
    return this.find((event): event is EventOf<T> => event.type === type, from);
  }

  async close(): Promise<void> {
    this.#abort();
    await this.ended;
  }

  async #read(stream: AsyncIterable<StreamEvent>): Promise<unknown> {
    try {
      for await (const event of stream) {
        this.events.push(event);
        this.#wake();
      }
      return undefined;
    } catch (error) {
      return error;
    } finally {
      this.#isOver = true;
      this.#wake();
    }
  }

  #change(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #shown(): string {
    return this.events.map((event) => event.type).join(', ') || '(none)';
  }
}
