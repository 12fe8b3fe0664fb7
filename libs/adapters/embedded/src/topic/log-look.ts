/**
 * A look at the log before it is opened for writing. It changes nothing, also when what it finds is damage: the files of
 * a log that is refused are all that is left of it.
 *
 * - A connection that can write moves the write-ahead log into the database when it is the last to close, whatever the
 *   database looks like. This one cannot write; and while it is open, another one that closes is not the last.
 * - Without a write-ahead log the file is opened as one that never changes, so that SQLite makes no files beside it.
 */
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { LogFailure, logFailure } from './log-failure.ts';
import { partitionsIn } from './log-layout.ts';
import type { LogLayout } from './log-layout.ts';
import { identityIn, isNewTopic, partitionIds } from './log-tables.ts';
import { checkLogHeader, checkLogPages, hasWriteAheadLog } from './log-pages.ts';
import { PartitionTable } from './partition-table.ts';
import type { StoredMessage } from './partition-table.ts';

export class LogLook {
  /** null in a log that was made before logs had one. */
  readonly identity: string | null;
  readonly #file: string;
  readonly #database: DatabaseSync;
  /** In the order of the layout; null where the topic is still to be added. */
  readonly #tables: readonly (PartitionTable | null)[];
  readonly #ends: readonly number[];

  /** Throws `LogFailure` when the log must not be opened. Nothing in this process may have it open yet. */
  constructor(file: string, layout: LogLayout) {
    this.#file = file;
    const pageBytes = checkLogHeader(file);
    this.#database = openReadOnly(file);
    try {
      checkLogPages(file, pageBytes, numberOf(this.#database, 'PRAGMA page_count'));
      this.identity = identityIn(this.#database);
      this.#tables = tablesIn(this.#database, file, layout);
      this.#ends = this.#tables.map((table) => (table?.newest()?.offset ?? -1) + 1);
    } catch (error) {
      this.#database.close();
      throw logFailure(error, file);
    }
  }

  /** The offset after the newest message of a partition. */
  end(partition: number): number {
    return this.#ends[partition] as number;
  }

  read(partition: number, from: number, maxBytes: number): StoredMessage[] {
    const end = this.end(partition);
    try {
      return from < end ? (this.#tables[partition]?.read(from, end, maxBytes) ?? []) : [];
    } catch (error) {
      throw logFailure(error, this.#file);
    }
  }

  close(): void {
    this.#database.close();
  }
}

function openReadOnly(file: string): DatabaseSync {
  try {
    if (hasWriteAheadLog(file)) return new DatabaseSync(file, { readOnly: true });
    const url = pathToFileURL(file);
    url.searchParams.set('immutable', '1');
    return new DatabaseSync(url, { readOnly: true });
  } catch (error) {
    throw logFailure(error, file);
  }
}

function tablesIn(database: DatabaseSync, file: string, layout: LogLayout): (PartitionTable | null)[] {
  const ids = partitionIds(database);
  const named = [...ids.values()].map((id) => PartitionTable.nameOf(id)).sort();
  const held = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'messages_*'`).all();
  if (
    held
      .map(({ name }) => String(name))
      .sort()
      .join() !== named.join()
  )
    throw new LogFailure('damaged', `The log ${file} is damaged: its list of partitions is not that of its tables.`);
  for (const topic of layout) isNewTopic(database, topic);
  return partitionsIn(layout).map(({ topic, partition, retention }) => {
    const id = ids.get(`${topic}/${partition}`);
    return id === undefined ? null : new PartitionTable(database, id, retention);
  });
}

function numberOf(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}
