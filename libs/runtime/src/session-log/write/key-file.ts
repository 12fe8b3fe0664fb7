/**
 * The wrapped data keys of all streams, folded from topic `keys` into a database of its own. It is filled anew at every
 * start: a tombstone that the topic has compacted away must not leave a key alive here.
 *
 * A removed key is overwritten with zeros where it stands and its row stays: a deleted row can leave copies in the gaps
 * of pages that were rebalanced before, also under `secure_delete`.
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
    this.#put = this.#db.prepare(`INSERT INTO keys (stream, key_id, wrapped) VALUES (?, ?, ?)
      ON CONFLICT (stream, key_id) DO UPDATE SET wrapped = excluded.wrapped`);
    this.#remove = this.#db.prepare(`UPDATE keys SET wrapped = zeroblob(length(wrapped))
      WHERE stream = ? AND key_id = ?`);
    this.#of = this.#db.prepare(`SELECT key_id AS keyId, wrapped FROM keys
      WHERE stream = ? AND wrapped <> zeroblob(length(wrapped)) ORDER BY number`);
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
