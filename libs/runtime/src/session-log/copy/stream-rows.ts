/** Heads of streams, and how far each is folded. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Epoch, Instant, Seq, StreamId, WorkspaceId } from '@manyhands/protocol';

export interface StreamRow {
  id: number;
  streamId: StreamId;
  workspaceId: WorkspaceId;
  seq: Seq;
  epoch: Epoch;
  time: Instant;
  /** The fold version that made the state rows (L6). */
  fold: number;
  /** The lowest fold version that understands all its records (L13). */
  minFold: number;
  /** The record that the fold could not take (L12); 0 when all is well. */
  brokenAt: Seq;
  /** The seq of `session.deleted`; 0 while it lives. */
  deletedAt: Seq;
}

const columns = `id, stream AS streamId, workspace AS workspaceId, seq, epoch, time, fold, min_fold AS minFold,
  broken_at AS brokenAt, deleted AS deletedAt`;

export class StreamRows {
  readonly #byStream: StatementSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #outdated: StatementSync;
  readonly #runnableOutdated: StatementSync;

  constructor(db: DatabaseSync) {
    this.#byStream = db.prepare(`SELECT ${columns} FROM streams WHERE stream = ?`);
    this.#insert = db.prepare(`INSERT INTO streams
      (stream, workspace, seq, epoch, time, fold, min_fold, broken_at, deleted) VALUES (?, ?, 0, 0, 0, ?, 0, 0, 0)`);
    this.#update = db.prepare(`UPDATE streams
      SET seq = ?, epoch = ?, time = ?, fold = ?, min_fold = ?, broken_at = ?, deleted = ? WHERE id = ?`);
    this.#outdated = db.prepare(`SELECT stream FROM streams WHERE fold <> ?
      ORDER BY id IN (SELECT id FROM runnable) DESC, id LIMIT ?`);
    this.#runnableOutdated = db.prepare('SELECT stream FROM streams JOIN runnable USING (id) WHERE fold <> ? LIMIT ?');
  }

  get(streamId: StreamId): StreamRow | null {
    return (this.#byStream.get(streamId) as unknown as StreamRow | undefined) ?? null;
  }

  create(streamId: StreamId, workspaceId: WorkspaceId, fold: number): StreamRow {
    const { lastInsertRowid } = this.#insert.run(streamId, workspaceId, fold);
    const [zeroSeq, zeroEpoch, zeroTime] = [0 as Seq, 0 as Epoch, 0 as Instant];
    return {
      id: Number(lastInsertRowid),
      streamId,
      workspaceId,
      seq: zeroSeq,
      epoch: zeroEpoch,
      time: zeroTime,
      fold,
      minFold: 0,
      brokenAt: zeroSeq,
      deletedAt: zeroSeq,
    };
  }

  save(row: StreamRow): void {
    this.#update.run(row.seq, row.epoch, row.time, row.fold, row.minFold, row.brokenAt, row.deletedAt, row.id);
  }

  /** Streams whose state another build folded; those that want the brain come first, or alone. */
  foldedByOthers(fold: number, limit: number, onlyRunnable: boolean): StreamId[] {
    const statement = onlyRunnable ? this.#runnableOutdated : this.#outdated;
    return statement.all(fold, limit).map((row) => row['stream'] as StreamId);
  }
}
