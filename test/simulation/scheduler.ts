/**
 * Virtual time and the one place where everything waits. Nothing happens between two steps: the scheduler takes the next
 * due step, lets what it woke run until it waits again, and takes the next. Steps due at the same time come in an order
 * drawn from the seed.
 */
import { setImmediate as afterMicrotasks } from 'node:timers/promises';
import type { Chance } from './chance.ts';

interface Waiting {
  due: number;
  tieBreak: number;
  go: () => void;
  isVoid: boolean;
}

/** Cancels a wait. */
export type Cancel = () => void;

export class Scheduler {
  /** Milliseconds since the run began. */
  now = 0;
  steps = 0;
  readonly #chance: Chance;
  readonly #heap: Waiting[] = [];

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** Calls back after so many virtual milliseconds. */
  after(ms: number, go: () => void): Cancel {
    const waiting = { due: this.now + Math.max(0, ms), tieBreak: this.#chance.number(), go, isVoid: false };
    this.#push(waiting);
    return () => (waiting.isVoid = true);
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Runs until nothing waits, the time is over, or `isOver` says so after a step. */
  async run(untilMs: number, isOver: () => boolean = () => false): Promise<void> {
    await afterMicrotasks();
    for (;;) {
      const next = this.#heap[0];
      if (!next || next.due > untilMs || isOver()) return;
      this.#pop();
      if (next.isVoid) continue;
      this.now = next.due;
      this.steps++;
      next.go();
      await afterMicrotasks();
    }
  }

  #push(waiting: Waiting): void {
    const heap = this.#heap;
    let at = heap.push(waiting) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(waiting, heap[parent] as Waiting)) break;
      heap[at] = heap[parent] as Waiting;
      at = parent;
    }
    heap[at] = waiting;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Waiting;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Waiting, heap[child] as Waiting)) child++;
      if (!isBefore(heap[child] as Waiting, last)) break;
      heap[at] = heap[child] as Waiting;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Waiting, b: Waiting): boolean {
  return a.due < b.due || (a.due === b.due && a.tieBreak < b.tieBreak);
}
