import type { DueTurn } from './conversation.ts';
import type { ScriptFault } from './script.ts';

/** Turns remembered; beyond it the oldest is forgotten, which strikes again only a test that comes back to it. */
const maxTurns = 20_000;

/** Hands out a turn's faults, one for each request; the only state that decides an answer. */
export class FaultCounter {
  readonly #requests = new Map<string, number>();

  next(due: DueTurn): ScriptFault | null {
    const faults = due.turn.faults;
    if (!faults) return null;
    const key = `${due.conversation}/${due.index}`;
    const before = this.#requests.get(key) ?? 0;
    this.#requests.set(key, before + 1);
    if (this.#requests.size > maxTurns) this.#forgetOldest();
    let position = before;
    for (const fault of faults) {
      position -= fault.times ?? 1;
      if (position < 0) return fault;
    }
    return null;
  }

  #forgetOldest(): void {
    for (const key of this.#requests.keys()) {
      this.#requests.delete(key);
      return;
    }
  }
}
