/**
 * One partition in the log's file.
 *
 * - Each row carries a checksum of its key and value, because SQLite has none for its pages: a flipped bit must be
 *   told as damage, not folded as a message that is no commit.
 * - What a later value of its key supersedes is overwritten with zeros in place, and the row stays. Deleting rows
 *   would let SQLite merge neighbouring pages, and the copies of cells that leaves in the gaps of pages are not
 *   overwritten when the cell itself is.
 * - The newest row never goes, so that offsets go on from it.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { LogFailure } from './log-failure.ts';
import type { Retention } from './log-layout.ts';
import type { LogMessage } from './packed-messages.ts';

export type StoredMessage = Omit<LogMessage, 'partition'>;

interface Row {
  offset: number;
  appended_at: number;
  checksum: number;
  key: string;
  value: Uint8Array | null;
}

/** Expired messages that one append may remove: more than it adds, so that the partition shrinks to its age. */
const prunedPerAppend = 2;

export class PartitionTable {
  readonly #database: DatabaseSync;
  readonly #name: string;
  readonly #retention: Retention;
  #insert?: StatementSync;
  #select?: StatementSync;
  #supersede?: StatementSync;
  #prune?: StatementSync;

  constructor(database: DatabaseSync, id: number, retention: Retention) {
    this.#database = database;
    this.#name = PartitionTable.nameOf(id);
    this.#retention = retention;
  }

  static nameOf(id: number): string {
    return `messages_${id}`;
  }

  static create(database: DatabaseSync, id: number, retention: Retention): void {
    const name = PartitionTable.nameOf(id);
    database.exec(`
      CREATE TABLE ${name} (
        "offset" INTEGER PRIMARY KEY,
        appended_at INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        superseded INTEGER NOT NULL DEFAULT 0,
        key TEXT NOT NULL,
        value BLOB
      )`);
    if (retention.kind === 'latest-per-key') database.exec(`CREATE INDEX ${name}_by_key ON ${name} (key)`);
  }

  /** The offset and time of the newest message; null when there is none. */
  newest(): { offset: number; appendedAt: number } | null {
    const row = this.#database
      .prepare(`SELECT "offset", appended_at FROM ${this.#name} ORDER BY "offset" DESC LIMIT 1`)
      .get();
    return row ? { offset: Number(row['offset']), appendedAt: Number(row['appended_at']) } : null;
  }

  /** Where reading may begin. Superseded messages are gaps, as in Kafka, and do not move it. */
  startOffset(): number {
    if (this.#retention.kind === 'latest-per-key') return 0;
    const row = this.#database.prepare(`SELECT "offset" FROM ${this.#name} ORDER BY "offset" LIMIT 1`).get();
    return Number(row?.['offset'] ?? 0);
  }

  /** Writes a message and removes what it makes obsolete; true when something must leave the write-ahead log too. */
  append({ offset, appendedAt, key, value }: StoredMessage): boolean {
    this.#insert ??= this.#database.prepare(
      `INSERT INTO ${this.#name} ("offset", appended_at, checksum, key, value) VALUES (?, ?, ?, ?, ?)`,
    );
    this.#insert.run(offset, appendedAt, checksumOf(key, value), key, value);
    switch (this.#retention.kind) {
      case 'for-ever':
        return false;
      case 'latest-per-key':
        return this.#supersedeBefore(offset, key) || value === null;
      case 'for-a-time':
        this.#pruneBefore(appendedAt - this.#retention.ms);
        return false;
    }
  }

  /** Messages from one offset up to, and without, another: about `maxBytes` of them, and one at least. */
  read(from: number, upTo: number, maxBytes: number): StoredMessage[] {
    this.#select ??= this.#database.prepare(`
      SELECT "offset", appended_at, checksum, key, value FROM ${this.#name}
      WHERE "offset" >= ? AND "offset" < ? AND superseded = 0 ORDER BY "offset"`);
    const messages: StoredMessage[] = [];
    let bytes = 0;
    for (const row of this.#select.iterate(from, upTo)) {
      const message = this.#checked(row as unknown as Row);
      this.#assertNoGap(from + messages.length, message.offset, messages.length === 0);
      messages.push(message);
      bytes += message.key.length + (message.value?.length ?? 0);
      if (bytes >= maxBytes) break;
    }
    return messages;
  }

  #supersedeBefore(offset: number, key: string): boolean {
    this.#supersede ??= this.#database.prepare(`
      UPDATE ${this.#name} SET superseded = 1, value = zeroblob(length(value))
      WHERE key = ? AND "offset" < ? AND superseded = 0`);
    return Number(this.#supersede.run(key, offset).changes) > 0;
  }

  #pruneBefore(instant: number): void {
    this.#prune ??= this.#database.prepare(`
      DELETE FROM ${this.#name} WHERE appended_at < ?
      AND "offset" IN (SELECT "offset" FROM ${this.#name} ORDER BY "offset" LIMIT ${prunedPerAppend})`);
    this.#prune.run(instant);
  }

  /** Only what is superseded leaves gaps; elsewhere a gap is what age, or somebody else, removed (L5, L7). */
  #assertNoGap(expected: number, offset: number, isFirst: boolean): void {
    if (offset === expected || this.#retention.kind === 'latest-per-key') return;
    if (isFirst) throw new LogFailure('out-of-range', `${this.#name} holds nothing from ${expected} up to ${offset}.`);
    throw new LogFailure('damaged', `The log is damaged: message ${expected} of ${this.#name} is missing.`);
  }

  #checked(row: Row): StoredMessage {
    const { offset, appended_at: appendedAt, key, value } = row;
    if (checksumOf(key, value) !== row.checksum)
      throw new LogFailure('damaged', `The log is damaged: message ${offset} of ${this.#name} fails its checksum.`);
    return { offset, appendedAt, key, value };
  }
}

function checksumOf(key: string, value: Uint8Array | null): number {
  const ofKey = crc32(key);
  return value ? crc32(value, ofKey) : ofKey;
}
