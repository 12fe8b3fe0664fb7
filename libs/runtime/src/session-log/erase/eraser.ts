/**
 * Finishes deletions: for every session with `session.deleted` and without `session.erased` it removes what lies outside
 * the copy, then writes `session.erased`. Every step may be repeated, by any replica and after any crash.
 */
import type { BlobStore, Clock, Logger } from '@manyhands/ports';
import { sessionStream, type EventId, type SessionId, type StreamId } from '@manyhands/protocol';
import type { Copy } from '../copy/copy.ts';
import type { Erasure } from '../copy/session-rows.ts';
import type { SessionLogCounters } from '../counters.ts';
import type { Fold } from '../fold/fold.ts';
import type { Appender } from '../write/appender.ts';
import type { DataKeys } from '../write/data-keys.ts';

export interface EraserOptions {
  copy: Copy;
  fold: Fold;
  keys: DataKeys;
  appender: Appender;
  blobs: BlobStore;
  clock: Clock;
  logger: Logger;
  counters: SessionLogCounters;
  newId: () => EventId;
  passKeyBarrier: (streamId: StreamId) => Promise<void>;
  /** Removes what the session left elsewhere: its hand's directory with the journal, live buffers. Repeatable. */
  eraseElsewhere: (sessionId: SessionId) => Promise<void>;
}

const retryMs = 1_000;
const erasuresAtOnce = 20;

export class Eraser {
  readonly #options: EraserOptions;
  readonly #abort = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #mayHaveWork = true;

  constructor(options: EraserOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** A deletion was folded. */
  deleted(): void {
    this.#mayHaveWork = true;
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      if (!this.#mayHaveWork) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      this.#mayHaveWork = false;
      if (await this.#pass()) continue;
      this.#mayHaveWork = true;
      await this.#options.clock.sleep(retryMs, signal);
    }
  }

  /** One look at what is left; false when something has to be tried again. */
  async #pass(): Promise<boolean> {
    // Nothing erased may stay in the write-ahead log. A reader that is in the way will be gone at the next try.
    let isDone = this.#options.copy.truncateWal();
    for (const erasure of this.#options.copy.sessions.erasures(erasuresAtOnce)) {
      if (this.#abort.signal.aborted) return true;
      isDone = (await this.#erase(erasure)) && isDone;
      this.#mayHaveWork = true;
    }
    return isDone;
  }

  async #erase({ sessionId, workspaceId }: Erasure): Promise<boolean> {
    const { keys, blobs, fold, appender, newId, counters, logger } = this.#options;
    const streamId = sessionStream(sessionId);
    try {
      await this.#options.passKeyBarrier(streamId);
      await keys.destroy(streamId);
      await blobs.deletePrefix(`${streamId}/`);
      await this.#options.eraseElsewhere(sessionId);
      const row = fold.stream(streamId);
      if (!row) return true;
      const records = [{ kind: 'session.erased' as const, id: newId(), facets: {}, payload: null }];
      const result = await appender.append({ streamId, workspaceId, epoch: row.epoch, expectedSeq: row.seq, records });
      if (result.kind === 'accepted') counters.erasedSessions++;
      return true;
    } catch (cause) {
      logger.warn({ sessionId, cause: String(cause) }, 'a deleted session could not be erased yet');
      return false;
    }
  }
}
