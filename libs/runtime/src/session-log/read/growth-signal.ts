/**
 * Follows a stream. Everything is read from the copy, in slices as large as the reader can take; a signal only says that
 * there is more. So a slow reader costs no memory here, sees no gap and nothing twice.
 */
import type { StreamId } from '@manyhands/protocol';
import type { StreamSignals } from '../fold/stream-signals.ts';

/** Wakes its waiter when the stream has grown since the last look. */
export class GrowthSignal {
  readonly #unsubscribe: () => void;
  readonly #signal: AbortSignal;
  #hasGrown = true;
  #wake: (() => void) | null = null;

  constructor(signals: StreamSignals, streamId: StreamId, signal: AbortSignal) {
    this.#signal = signal;
    this.#unsubscribe = signals.subscribe(streamId, this.#grown);
    signal.addEventListener('abort', this.#grown);
  }

  /** Resolves at the next growth, or at once when there was one since the last call; false when it is over. */
  async grown(): Promise<boolean> {
    if (!this.#hasGrown && !this.#signal.aborted) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#hasGrown = false;
    return !this.#signal.aborted;
  }

  close(): void {
    this.#unsubscribe();
    this.#signal.removeEventListener('abort', this.#grown);
  }

  readonly #grown = (): void => {
    this.#hasGrown = true;
    this.#wake?.();
    this.#wake = null;
  };
}
