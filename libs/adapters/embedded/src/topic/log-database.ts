/**
 * The file of the log: an SQLite database with one table per partition, whose rowid is the offset, so that every
 * append goes to the right edge of its own tree and moves nothing that is written.
 *
 * - A new file is built beside its place and renamed onto it: a file that is empty or has no tables was damaged.
 * - The partition counts are written down at creation and are the log's identity (L9). A topic that a file has never
 *   seen is added; a known topic with another count is refused.
 * - A log that is refused is left as it is, byte for byte: it is looked at before it is opened for writing.
 */
import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncDirectory } from '../durable-file.ts';
import { LogFailure, logFailure } from './log-failure.ts';
import { partitionsIn } from './log-layout.ts';
import type { LogLayout } from './log-layout.ts';
import { LogLook } from './log-look.ts';
import { applicationId, schemaVersion } from './log-pages.ts';
import { addIdentity, addTopics, identityIn, partitionIds, partitionsTable } from './log-tables.ts';
import { PartitionTable } from './partition-table.ts';

/** For a checkpoint that meets a reader in the middle of a page. */
const busyTimeoutMs = 10_000;

export interface LogDatabase {
  database: DatabaseSync;
  /** Tells this log from every other. */
  identity: string;
  /** In the order of the layout. */
  tables: readonly PartitionTable[];
}

/** Opens the log for the first time in this process, or makes it when there is none. */
export function openLogForWriting(file: string, layout: LogLayout): LogDatabase {
  try {
    if (!existsSync(file)) create(file);
    const look = new LogLook(file, layout);
    try {
      return reopenLogForWriting(file, layout);
    } finally {
      look.close(); // Not before: a connection that fails and is the last to close would still write.
    }
  } catch (error) {
    throw logFailure(error, file);
  }
}

/** Opens a log that this process has looked at before, and may be reading. */
export function reopenLogForWriting(file: string, layout: LogLayout): LogDatabase {
  try {
    return open(file, layout, (database) => {
      // FULL: a commit has reached the disk when it returns. secure_delete: what is erased is overwritten.
      database.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
      addIdentity(database);
      addTopics(database, layout);
    });
  } catch (error) {
    throw logFailure(error, file);
  }
}

export function openLogForReading(file: string, layout: LogLayout): LogDatabase {
  try {
    return open(file, layout, (database) => database.exec('PRAGMA query_only = ON'));
  } catch (error) {
    throw logFailure(error, file);
  }
}

function open(file: string, layout: LogLayout, prepare: (database: DatabaseSync) => void): LogDatabase {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  try {
    prepare(database);
    return { database, identity: identityIn(database) ?? '', tables: tablesOf(database, layout) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function create(file: string): void {
  if (existsSync(`${file}-wal`))
    throw new LogFailure('damaged', `The log ${file} is missing, but its newest part ${file}-wal is there.`);
  const unfinished = `${file}.new`;
  for (const leftover of ['', '-wal', '-shm', '-journal']) rmSync(unfinished + leftover, { force: true });
  // SQLite gives its other files the mode of this one.
  closeSync(openSync(unfinished, 'wx', 0o600));
  const database = new DatabaseSync(unfinished);
  try {
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA application_id = ${applicationId};
      PRAGMA user_version = ${schemaVersion};
      ${partitionsTable}`);
    addIdentity(database);
  } finally {
    database.close(); // Moves everything from the write-ahead log into the file, durably.
  }
  renameSync(unfinished, file);
  syncDirectory(path.dirname(file));
}

function tablesOf(database: DatabaseSync, layout: LogLayout): PartitionTable[] {
  const ids = partitionIds(database);
  return partitionsIn(layout).map(({ topic, partition, retention }) => {
    const id = ids.get(`${topic}/${partition}`);
    if (id === undefined) throw new LogFailure('damaged', `The log is damaged: ${topic}/${partition} is missing.`);
    return new PartitionTable(database, id, retention);
  });
}
