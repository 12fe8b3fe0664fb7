/**
 * The wrapped data keys of all streams, folded from topic `keys` into a database of its own. It is filled anew at every
 * start: a tombstone that the topic has compacted away must not leave a key alive here.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { KeyId, StreamId } from '@manyhands/protocol';
import { inMemory, openDatabase, removeDatabase } from '../copy/copy-file.ts';

export interface WrappedKey {
  keyId: KeyId;
  wrapped: Uint8Array;
}

export class KeyFile {
  readonly #db: DatabaseSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #of: StatementSync;

  constructor(path: string) {
    if (path !== inMemory) removeDatabase(path);
    this.#db = openDatabase(path);
    this.#db.exec(`CREATE TABLE keys (
      number INTEGER PRIMARY KEY, stream TEXT NOT NULL, key_id TEXT NOT NULL, wrapped BLOB NOT NULL, UNIQUE (stream, key_id)
    )`);
    this.#put = this.#db.prepare('INSERT OR REPLACE INTO keys (stream, key_id, wrapped) VALUES (?, ?, ?)');
    this.#remove = this.#db.prepare('DELETE FROM keys WHERE stream = ? AND key_id = ?');
    this.#of = this.#db.prepare('SELECT key_id AS keyId, wrapped FROM keys WHERE stream = ? ORDER BY number');
  }

  transaction(work: () => void): void {
    this.#db.exec('BEGIN');
    work();
    this.#db.exec('COMMIT');
  }

  put(streamId: StreamId, keyId: KeyId, wrapped: Uint8Array): void {
    this.#put.run(streamId, keyId, wrapped);
  }

  remove(streamId: StreamId, keyId: KeyId): void {
    this.#remove.run(streamId, keyId);
  }

  /** Oldest first. */
  of(streamId: StreamId): WrappedKey[] {
    return this.#of.all(streamId) as unknown as WrappedKey[];
  }

  truncateWal(): void {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.#db.close();
  }
}
