/** Which workers live, as each of them believes: deaths are heard late, and sometimes of those who live. */
import type { Workers } from '@manyhands/ports';
import type { Incarnation } from '@manyhands/protocol';

export class SimWorkers implements Workers {
  readonly self: Incarnation;
  readonly #live: () => readonly Incarnation[];
  readonly #dead: Set<Incarnation>;
  readonly #listeners = new Set<(incarnation: Incarnation) => void>();

  constructor(self: Incarnation, live: () => readonly Incarnation[], dead: Iterable<Incarnation>) {
    this.self = self;
    this.#live = live;
    this.#dead = new Set(dead);
  }

  live(): readonly Incarnation[] {
    return this.#live().filter((incarnation) => !this.#dead.has(incarnation));
  }

  isDead(incarnation: Incarnation): boolean {
    return this.#dead.has(incarnation);
  }

  onDeath(listener: (incarnation: Incarnation) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  believeDead(incarnation: Incarnation): void {
    if (incarnation === this.self || this.#dead.has(incarnation)) return;
    this.#dead.add(incarnation);
    for (const listener of this.#listeners) listener(incarnation);
  }

  believeAlive(incarnation: Incarnation): void {
    this.#dead.delete(incarnation);
  }
}

/** All incarnations there ever were. */
export class Fleet {
  readonly #members = new Map<Incarnation, SimWorkers>();
  readonly #dead = new Set<Incarnation>();

  join(incarnation: Incarnation): SimWorkers {
    const workers = new SimWorkers(incarnation, () => this.#living(), this.#dead);
    this.#members.set(incarnation, workers);
    return workers;
  }

  /** It can do nothing more. Who is told, and when, is the caller's business. */
  died(incarnation: Incarnation): void {
    this.#dead.add(incarnation);
  }

  isDead(incarnation: Incarnation): boolean {
    return this.#dead.has(incarnation);
  }

  #living(): Incarnation[] {
    return [...this.#members.keys()].filter((incarnation) => !this.#dead.has(incarnation)).toSorted();
  }
}
