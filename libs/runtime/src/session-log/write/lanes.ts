/** Runs work of one name after the other, in the order it came; work of other names beside it. */
export class Lanes<K> {
  readonly #last = new Map<K, Promise<unknown>>();

  run<T>(name: K, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const result = before.then(work, work);
    this.#last.set(name, result);
    const done = (): void => {
      if (this.#last.get(name) === result) this.#last.delete(name);
    };
    result.then(done, done);
    return result;
  }

  get size(): number {
    return this.#last.size;
  }
}
