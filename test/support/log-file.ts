/**
 * The log of a stopped server, opened as a file: for tests that damage it. Knows the embedded topic's layout: a table per
 * partition, a checksum per message, commits as JSON.
 */
import path from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { crc32 } from 'node:zlib';

interface Row {
  offset: number;
  key: string;
  value: Uint8Array | null;
}

export interface StoredCommit {
  commitId: string;
  streamId: string;
  expectedSeq: number;
  records: { id: string; kind: string; facets: object; payload?: string }[];
  [field: string]: unknown;
}

export class LogFile {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Opens the log, lets the test change it, and closes it. */
  static change<T>(dataDirectory: string, change: (log: LogFile) => T): T {
    const database = new DatabaseSync(path.join(dataDirectory, 'log.db'));
    try {
      return change(new LogFile(database));
    } finally {
      database.close();
    }
  }

  /** The newest commit of a session, and the table that holds it. */
  lastCommit(sessionId: string): { table: string; commit: StoredCommit } {
    for (const table of this.#tables('sessions-01')) {
      const sql = `SELECT "offset", key, value FROM ${table} WHERE key = ? ORDER BY "offset" DESC LIMIT 1`;
      const row = this.#database.prepare(sql).get(sessionId) as unknown as Row | undefined;
      if (!row?.value) continue;
      return { table, commit: JSON.parse(Buffer.from(row.value).toString()) as StoredCommit };
    }
    throw new Error(`no commit of ${sessionId} in the log`);
  }

  append(table: string, key: string, value: Uint8Array): void {
    const { last } = this.#database.prepare(`SELECT max("offset") AS last FROM ${table}`).get() as { last: number };
    const values: SQLInputValue[] = [last + 1, Date.now(), crc32(value, crc32(key)), key, value];
    const columns = '"offset", appended_at, checksum, key, value';
    this.#database.prepare(`INSERT INTO ${table} (${columns}) VALUES (?, ?, ?, ?, ?)`).run(...values);
  }

  /** Loses the data keys of a session, as a disk might. How many there were. */
  removeKeys(sessionId: string): number {
    const changes = this.#tables('keys').map((table) => {
      return this.#database.prepare(`DELETE FROM ${table} WHERE key LIKE ?`).run(`${sessionId}/%`).changes;
    });
    return changes.reduce((sum: number, one) => sum + Number(one), 0);
  }

  #tables(topic: string): string[] {
    const rows = this.#database.prepare('SELECT id FROM partitions WHERE topic = ? ORDER BY partition').all(topic);
    return rows.map(({ id }) => `messages_${String(id)}`);
  }
}
