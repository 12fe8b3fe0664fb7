/** Chance from a seed: a failed run names its seed, and with it makes the same choices again. */

/** `MANYHANDS_SEED` where it is set. Printed, so that whoever reads the output of a failure has it. */
export function newRandom(name: string): Random {
  const given = process.env['MANYHANDS_SEED'];
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
  console.info(`${name}: MANYHANDS_SEED=${seed}`);
  return new Random(seed);
}

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform in [0, 1): the splitmix32 generator. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.integer(0, choices.length - 1)] ?? choices[0];
  }

  /** Another one, whose choices do not depend on how many this one makes later. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
