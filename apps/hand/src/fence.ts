/**
 * The highest epoch that ever spoke to this hand (H2). It is on disk before anything is done or told under it, for whoever
 * looks at a dead hand. What protects a living one is its memory, because a daemon starts once in its life: so a full
 * disk, which a command can make, does not keep the next holder out.
 */
import { open, rename } from 'node:fs/promises';

export class Fence {
  readonly #path: string;
  #epoch = 0;
  #rising: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Whether this epoch may act, raising the fence to it where it is higher. */
  async admits(epoch: number): Promise<boolean> {
    if (epoch < this.#epoch) return false;
    if (epoch > this.#epoch) {
      // From this moment on a lower epoch is refused, although the file is not written yet.
      this.#epoch = epoch;
      this.#rising = this.#rising.then(() => this.#store()).catch(() => {}); // Memory holds it; see above.
    }
    await this.#rising;
    return epoch >= this.#epoch;
  }

  async #store(): Promise<void> {
    const draft = `${this.#path}.new`;
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(`${this.#epoch}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, this.#path);
  }
}
