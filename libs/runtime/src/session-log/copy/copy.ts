/**
 * The local copy: what this replica has folded so far, in SQLite. It is the fold's to write; readers have their own
 * connections or, in memory, this one.
 *
 * L6. It may be thrown away at any time; the same answers come back. Positions are stored in the transaction that stored
 *     the records.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Logger } from '@manyhands/ports';
import { markClosed, openCopyFile, type CopyIdentity } from './copy-file.ts';
import { IdempotencyRows } from './idempotency-rows.ts';
import { PositionRows } from './position-rows.ts';
import { RecordRows } from './record-rows.ts';
import { ResourceRows } from './resource-rows.ts';
import { SessionRows } from './session-rows.ts';
import { StreamRows } from './stream-rows.ts';

export class Copy {
  readonly path: string;
  readonly db: DatabaseSync;
  readonly positions: PositionRows;
  readonly streams: StreamRows;
  readonly records: RecordRows;
  readonly sessions: SessionRows;
  readonly resources: ResourceRows;
  readonly idempotency: IdempotencyRows;

  constructor(path: string, identity: CopyIdentity, logger: Logger) {
    this.path = path;
    this.db = openCopyFile(path, identity, logger);
    this.positions = new PositionRows(this.db);
    this.streams = new StreamRows(this.db);
    this.records = new RecordRows(this.db);
    this.sessions = new SessionRows(this.db);
    this.resources = new ResourceRows(this.db);
    this.idempotency = new IdempotencyRows(this.db);
  }

  transaction<T>(work: () => T): T {
    this.db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.db.exec('COMMIT');
      return result;
    } catch (cause) {
      this.db.exec('ROLLBACK');
      throw cause;
    }
  }

  /** Empties the write-ahead log, so that nothing erased stays in it; false while a reader is in the way. */
  truncateWal(): boolean {
    const row = this.db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number } | undefined;
    return row?.busy !== 1;
  }

  close(): void {
    markClosed(this.db);
    this.db.close();
  }
}
