/** One session whose log a spec writes by hand: deliveries go to every follower, slowly read or not. */
import type { Delivery, EventCursor, SessionService } from '@manyhands/ports';
import type { Epoch, Seq, SessionEvent } from '@manyhands/protocol';

export class ScriptedSession {
  readonly #log: Delivery[] = [];
  #seq = 0;
  #changed = Promise.withResolvers<void>();
  /** How many followers go on right now. */
  following = 0;
  /** Deliveries handed to followers, all of them together. */
  taken = 0;

  /** Adds events, one record each, and gives the last one's position. */
  append(...events: Partial<SessionEvent>[]): EventCursor {
    for (const event of events) {
      const cursor = { seq: ++this.#seq as Seq, n: 0 };
      this.#log.push({ cursor, event: { id: `sevt_${this.#seq}`, processed_at: null, ...event } as SessionEvent });
    }
    const changed = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    changed.resolve();
    return { seq: this.#seq as Seq, n: 0 };
  }

  readonly service: Pick<SessionService, 'follow'> = {
    follow: async (_workspaceId, _id, after, signal) => {
      const at = after === 'head' ? { seq: this.#seq as Seq, n: 0 } : after;
      return { at, epoch: 1 as Epoch, deliveries: this.#deliveries(at.seq, signal) };
    },
  };

  async *#deliveries(after: number, signal: AbortSignal): AsyncIterable<readonly Delivery[]> {
    this.following++;
    try {
      let position = Math.min(after, this.#log.length);
      yield* this.#upTo(position, (position = this.#log.length));
      yield [];
      while (!signal.aborted) {
        yield* this.#upTo(position, (position = this.#log.length));
        if (position < this.#log.length) continue;
        await Promise.race([this.#changed.promise, aborted(signal)]);
      }
    } finally {
      this.following--;
    }
  }

  *#upTo(from: number, to: number): Iterable<readonly Delivery[]> {
    const batchSize = 100;
    for (let start = from; start < to; start += batchSize) {
      const batch = this.#log.slice(start, Math.min(start + batchSize, to));
      this.taken += batch.length;
      yield batch;
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
