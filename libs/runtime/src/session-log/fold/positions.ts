/** How far each partition is folded, in memory, and who waits until it is folded further. */
import type { TopicPartition, TopicPosition } from '@manyhands/ports';
import type { Offset } from '@manyhands/protocol';

interface Waiter {
  offset: Offset;
  resolve: () => void;
}

export class Positions {
  readonly #next = new Map<string, Offset>();
  readonly #waiters = new Map<string, Set<Waiter>>();

  get(of: TopicPartition): Offset {
    return this.#next.get(nameOf(of)) ?? (0 as Offset);
  }

  set(position: TopicPosition): void {
    const name = nameOf(position);
    this.#next.set(name, position.offset);
    const waiters = this.#waiters.get(name);
    if (!waiters) return;
    for (const waiter of [...waiters]) {
      if (waiter.offset > position.offset) continue;
      waiters.delete(waiter);
      waiter.resolve();
    }
    if (waiters.size === 0) this.#waiters.delete(name);
  }

  /** Resolves with true when every position is reached, or with false when the signal aborts before. */
  async reached(positions: readonly TopicPosition[], signal: AbortSignal): Promise<boolean> {
    for (const position of positions) {
      if (this.get(position) >= position.offset) continue;
      if (!(await this.#wait(position, signal))) return false;
    }
    return true;
  }

  #wait(position: TopicPosition, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    const name = nameOf(position);
    const waiters = this.#waiters.get(name) ?? new Set<Waiter>();
    this.#waiters.set(name, waiters);
    return new Promise((resolve) => {
      const abort = (): void => {
        waiters.delete(waiter);
        resolve(false);
      };
      const waiter: Waiter = {
        offset: position.offset,
        resolve: () => {
          signal.removeEventListener('abort', abort);
          resolve(true);
        },
      };
      waiters.add(waiter);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}

export function nameOf(of: TopicPartition): string {
  return `${of.topic}/${of.partition}`;
}
