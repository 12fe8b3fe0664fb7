/**
 * The way to ready: waits until the replica has folded what was durable at its start, saying how far it is, and folds again
 * the states that another build left behind (L6): those that want the brain before ready, the others after it.
 */
import { SessionLogError, type Clock, type Logger } from '@manyhands/ports';
import type { Copy } from './copy/copy.ts';
import type { SessionLogCounters } from './counters.ts';
import type { Fold } from './fold/fold.ts';
import type { Replica } from './fold/replica.ts';

export interface CatchUpOptions {
  copy: Copy;
  fold: Fold;
  replica: Replica;
  clock: Clock;
  logger: Logger;
  foldVersion: number;
  counters: SessionLogCounters;
}

const streamsAtOnce = 50;

export class CatchUp {
  readonly #options: CatchUpOptions;

  #background: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  async run(reachEnd: () => Promise<void>): Promise<void> {
    const { clock, logger, counters } = this.#options;
    const began = clock.monotonicMs();
    for (;;) {
      const before = counters.foldedRecords;
      try {
        await reachEnd();
        break;
      } catch (cause) {
        // Far behind is no fault as long as folding goes on; a log that cannot be folded at all is one.
        const isMoving = counters.foldedRecords > before;
        if (!(cause instanceof SessionLogError) || !isMoving) throw cause;
        logger.info({ foldedRecords: counters.foldedRecords }, 'folding the log');
      }
    }
    await this.#refold(true);
    logger.info(
      { foldedRecords: counters.foldedRecords, tookMs: Math.round(clock.monotonicMs() - began) },
      'the copy is at the end of the log',
    );
    this.#background = this.#refold(false);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#background;
  }

  async #refold(onlyRunnable: boolean): Promise<void> {
    const { copy, fold, replica, clock, foldVersion } = this.#options;
    let before: string | undefined;
    while (!this.#isStopped) {
      const streams = copy.streams.foldedByOthers(foldVersion, streamsAtOnce, onlyRunnable);
      // Streams beyond this build (L13) stay in the list; when nothing else is left, this is done.
      if (streams.length === 0 || streams[0] === before) return;
      before = streams[0];
      for (const streamId of streams) {
        const row = fold.stream(streamId);
        if (row && fold.isOutdated(row)) replica.refold(row);
      }
      await clock.sleep(0);
    }
  }
}
