/** Ends a daemon that nobody has asked for anything for a while and that has nothing running (S3). */
export class IdleEnd {
  readonly #idleMs: number;
  readonly #isBusy: () => boolean;
  readonly #end: () => void;
  #timer: NodeJS.Timeout;

  constructor(idleMs: number, isBusy: () => boolean, end: () => void) {
    this.#idleMs = idleMs;
    this.#isBusy = isBusy;
    this.#end = end;
    this.#timer = this.#arm();
  }

  /** Somebody was here, or something has just finished: the time begins anew. */
  postpone = (): void => {
    this.#timer.refresh();
  };

  #arm(): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.#isBusy()) this.#timer = this.#arm();
      else this.#end();
    }, this.#idleMs);
  }
}
