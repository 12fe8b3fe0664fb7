import type { LiveDelta } from '@manyhands/ports';
import type { EventId } from '@manyhands/protocol';

/** Deltas that may wait for one listener. */
const queueLimit = 1_000;

/**
 * Hands deltas to one listener, in order and outside the publisher's call. When too many wait, the listener is dropped
 * from the event: what it was sent of it stays without a gap, and no more follows. One that throws is dropped whole.
 */
export class Subscriber {
  readonly #listener: (delta: LiveDelta) => void;
  readonly #onFailure: (error: unknown) => void;
  /** Events of which it has everything so far. */
  readonly #following = new Set<EventId>();
  #queue: LiveDelta[] = [];
  #isDraining = false;

  constructor(listener: (delta: LiveDelta) => void, onFailure: (error: unknown) => void) {
    this.#listener = listener;
    this.#onFailure = onFailure;
  }

  offer(delta: LiveDelta): void {
    if (!this.#isWanted(delta)) return;
    this.#queue.push(delta);
    if (this.#isDraining) return;
    this.#isDraining = true;
    queueMicrotask(() => this.#drain());
  }

  /** Nothing that waits is delivered any more. */
  clear(): void {
    this.#queue = [];
    this.#following.clear();
  }

  #isWanted(delta: LiveDelta): boolean {
    const isFull = this.#queue.length >= queueLimit;
    switch (delta.type) {
      case 'start':
        if (!isFull) this.#following.add(delta.eventId);
        return !isFull;
      case 'text':
        if (isFull) this.#following.delete(delta.eventId);
        return this.#following.has(delta.eventId);
      case 'end':
        this.#following.clear();
        return true;
    }
  }

  #drain(): void {
    try {
      for (let delta = this.#queue.shift(); delta; delta = this.#queue.shift()) this.#listener(delta);
    } catch (error) {
      this.clear();
      this.#onFailure(error);
    } finally {
      this.#isDraining = false;
    }
  }
}
