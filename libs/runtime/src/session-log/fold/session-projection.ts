/**
 * The state rows of sessions: evolved record by record in memory, written once per transaction.
 *
 * L6. A row says which fold version made it; one of another version is folded again from the local records.
 * L12. A record that `evolve` cannot take breaks its stream from there on, and no other.
 */
import { evolveSession, runnableOf, type SessionState, type TakeoverLimits } from '@manyhands/core';
import type { Logger, RunnableRow } from '@manyhands/ports';
import type { Seq, SessionFoldRecord, StreamId } from '@manyhands/protocol';
import type { Copy } from '../copy/copy.ts';
import type { StreamRow } from '../copy/stream-rows.ts';
import { Lru } from '../lru.ts';

/** States kept in memory; one takes a few kilobytes. */
const hotStates = 2_000;

export class SessionProjection {
  readonly #copy: Copy;
  readonly #takeover: TakeoverLimits;
  readonly #logger: Logger;
  readonly #states = new Lru<StreamId, SessionState>(hotStates);
  readonly #dirty = new Map<StreamId, { row: StreamRow; state: SessionState }>();

  constructor(copy: Copy, takeover: TakeoverLimits, logger: Logger) {
    this.#copy = copy;
    this.#takeover = takeover;
    this.#logger = logger;
  }

  /** The state at the stream's head; null before its first record. */
  state(row: StreamRow): SessionState | null {
    const known = this.#dirty.get(row.streamId)?.state ?? this.#states.get(row.streamId);
    if (known) return known;
    const stored = this.#copy.sessions.state(row.id);
    if (stored) this.#states.set(row.streamId, stored);
    return stored;
  }

  /** Takes one record; false when it broke the stream. */
  evolve(row: StreamRow, record: SessionFoldRecord): boolean {
    try {
      const state = evolveSession(this.state(row), record) as SessionState | undefined;
      if (!state) throw new Error(`a kind that this fold does not know: ${record.kind}`);
      this.#dirty.set(row.streamId, { row, state });
      return true;
    } catch (cause) {
      const { streamId } = row;
      this.#logger.error(
        { streamId, seq: record.seq, kind: record.kind, cause: String(cause) },
        'a record breaks its stream',
      );
      this.drop(row);
      return false;
    }
  }

  /** Folds a stream again from its local records; answers the seq that broke it, or 0. */
  refold(row: StreamRow): Seq {
    this.#states.delete(row.streamId);
    this.#dirty.delete(row.streamId);
    let state: SessionState | null = null;
    for (const record of this.#copy.records.foldRecords(row.id, 0 as Seq, row.seq)) {
      try {
        state = evolveSession(state, record as SessionFoldRecord);
      } catch {
        return record.seq; // Reported where it is written into the stream's row.
      }
    }
    if (state) this.#dirty.set(row.streamId, { row, state });
    return 0 as Seq;
  }

  /** Takes a stream out of the brain's reach: broken, or beyond this build. */
  drop(row: StreamRow): void {
    this.#states.delete(row.streamId);
    this.#dirty.delete(row.streamId);
    this.#copy.sessions.saveRunnable(row.id, row.streamId as string as SessionState['sessionId'], null, row.time);
  }

  /** Writes what changed; answers the wishes for the brain that are new or have changed. */
  flush(): RunnableRow[] {
    const wishes: RunnableRow[] = [];
    for (const [streamId, { row, state }] of this.#dirty) {
      this.#copy.sessions.save(row.id, state);
      const wish = runnableOf(state, this.#takeover);
      const changed = this.#copy.sessions.saveRunnable(row.id, state.sessionId, wish, state.time);
      if (changed) wishes.push(changed);
      this.#states.set(streamId, state);
    }
    this.#dirty.clear();
    return wishes;
  }

  /** After a transaction that did not hold: what memory knows may be ahead of the copy. */
  forget(): void {
    this.#dirty.clear();
    this.#states.clear();
  }
}
