/** The state at a stream's head, as commands and reads ask for it. */
import type { SessionState } from '@manyhands/core';
import { SessionLogError } from '@manyhands/ports';
import type { StreamId } from '@manyhands/protocol';
import type { StreamRow } from '../copy/stream-rows.ts';
import type { Fold } from './fold.ts';
import type { Replica } from './replica.ts';

export interface FoldedSession {
  row: StreamRow;
  state: SessionState;
}

export class States {
  readonly #fold: Fold;
  readonly #replica: Replica;

  constructor(fold: Fold, replica: Replica) {
    this.#fold = fold;
    this.#replica = replica;
  }

  /**
   * The row of a stream that is folded up to its head; null when the stream has no record. Throws when this build cannot
   * fold it (L13) or nobody can (L12). Deleted streams are told by `deletedAt`.
   */
  row(streamId: StreamId): StreamRow | null {
    const row = this.#fold.stream(streamId);
    if (!row || row.deletedAt !== 0) return row;
    if (!this.#fold.canFold(row)) {
      throw new SessionLogError('unavailable', `${streamId} holds records of a newer build: ask another replica`);
    }
    if (this.#fold.isOutdated(row)) this.#replica.refold(row);
    if (row.brokenAt !== 0) {
      throw new SessionLogError('stream-broken', `${streamId} cannot be folded past its record ${row.brokenAt}`);
    }
    return row;
  }

  /** The row of a stream that nobody can fold (L12); null for any other. */
  broken(streamId: StreamId): StreamRow | null {
    const row = this.#fold.stream(streamId);
    return row && row.brokenAt !== 0 && row.deletedAt === 0 ? { ...row } : null;
  }

  /** null: no such session, or deleted. */
  session(streamId: StreamId): FoldedSession | null {
    const row = this.row(streamId);
    if (!row || row.deletedAt !== 0) return null;
    const state = this.#fold.state(row);
    return state ? { row: { ...row }, state } : null;
  }

  /** As a line of a list: a session that cannot be shown is left out and harms no other. */
  listed(streamId: StreamId): FoldedSession | null {
    try {
      return this.session(streamId);
    } catch (cause) {
      if (cause instanceof SessionLogError) return null;
      throw cause;
    }
  }
}
