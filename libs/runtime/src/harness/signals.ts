/** A queue between producers and one consumer: what a turn's loop awaits. */
export class Signals<T> {
  readonly #waiting: T[] = [];
  #wake: ((value: T) => void) | null = null;

  push(signal: T): void {
    const wake = this.#wake;
    this.#wake = null;
    if (wake) wake(signal);
    else this.#waiting.push(signal);
  }

  next(): Promise<T> {
    const first = this.#waiting.shift();
    if (first !== undefined) return Promise.resolve(first);
    return new Promise((resolve) => (this.#wake = resolve));
  }
}
