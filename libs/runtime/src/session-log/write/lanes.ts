/** Runs work of one name after the other, in the order it came; work of other names beside it. Waiting lines are bounded. */
export class Lanes<K> {
  readonly #lanes = new Map<K, { last: Promise<unknown>; length: number }>();
  readonly #maxLength: number;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** null when too many wait already. */
  run<T>(name: K, work: () => Promise<T>): Promise<T> | null {
    const lane = this.#lanes.get(name) ?? { last: Promise.resolve(), length: 0 };
    if (lane.length >= this.#maxLength) return null;
    const result = lane.last.then(work, work);
    lane.last = result;
    lane.length++;
    this.#lanes.set(name, lane);
    const done = (): void => {
      lane.length--;
      if (lane.length === 0) this.#lanes.delete(name);
    };
    result.then(done, done);
    return result;
  }
}
