/**
 * The file of the log: an SQLite database with one table per partition, whose rowid is the offset, so that every
 * append goes to the right edge of its own tree and moves nothing that is written.
 *
 * - A new file is built beside its place and renamed onto it: a file that is empty or has no tables was damaged.
 * - The partition counts are written down at creation and are the log's identity (L9). A topic that a file has never
 *   seen is added; a known topic with another count is refused.
 */
import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncDirectory } from '../durable-file.ts';
import { LogFailure, logFailure } from './log-failure.ts';
import { partitionsIn } from './log-layout.ts';
import type { LogLayout, TopicLayout } from './log-layout.ts';
import { PartitionTable } from './partition-table.ts';

/** "MHLG" in SQLite's header: this database is a log of ours. */
const applicationId = 0x4d_48_4c_47;
const schemaVersion = 1;
/** For a checkpoint that meets a reader in the middle of a page. */
const busyTimeoutMs = 10_000;

export interface LogDatabase {
  database: DatabaseSync;
  /** In the order of the layout. */
  tables: readonly PartitionTable[];
}

/** Opens the log, or makes it when there is none. */
export function openLogForWriting(file: string, layout: LogLayout): LogDatabase {
  try {
    if (!existsSync(file)) create(file);
    return open(file, (database) => {
      // FULL: a commit has reached the disk when it returns. secure_delete: what is erased is overwritten.
      database.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
      addTopics(database, layout);
      return tablesOf(database, layout);
    });
  } catch (error) {
    throw logFailure(error, file);
  }
}

export function openLogForReading(file: string, layout: LogLayout): LogDatabase {
  try {
    return open(file, (database) => {
      database.exec('PRAGMA query_only = ON');
      return tablesOf(database, layout);
    });
  } catch (error) {
    throw logFailure(error, file);
  }
}

function open(file: string, prepare: (database: DatabaseSync) => PartitionTable[]): LogDatabase {
  if (statSync(file).size === 0) throw new LogFailure('damaged', `The log ${file} is damaged: it is empty.`);
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  try {
    checkHeader(database, file);
    return { database, tables: prepare(database) };
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
      CREATE TABLE partitions (
        id INTEGER PRIMARY KEY,
        topic TEXT NOT NULL,
        partition INTEGER NOT NULL,
        UNIQUE (topic, partition)
      );
    `);
  } finally {
    database.close(); // Moves everything from the write-ahead log into the file, durably.
  }
  renameSync(unfinished, file);
  syncDirectory(path.dirname(file));
}

function checkHeader(database: DatabaseSync, file: string): void {
  const id = database.prepare('PRAGMA application_id').get()?.['application_id'];
  if (id !== applicationId) throw new LogFailure('damaged', `${file} is damaged: it is no log of this program.`);
  const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
  if (version !== schemaVersion)
    throw new LogFailure('identity-mismatch', `The log ${file} has format ${String(version)}, not ${schemaVersion}.`);
}

function addTopics(database: DatabaseSync, layout: LogLayout): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const topic of layout) if (isNew(database, topic)) addTopic(database, topic);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function isNew(database: DatabaseSync, { topic, partitions }: TopicLayout): boolean {
  const row = database.prepare('SELECT count(*) AS held FROM partitions WHERE topic = ?').get(topic);
  const held = Number(row?.['held']);
  if (held !== 0 && held !== partitions)
    throw new LogFailure(
      'identity-mismatch',
      `The topic ${topic} has ${held} partitions in this log; ${partitions} are configured, and the number cannot change.`,
    );
  return held === 0;
}

function addTopic(database: DatabaseSync, layout: TopicLayout): void {
  const insert = database.prepare('INSERT INTO partitions (topic, partition) VALUES (?, ?)');
  for (const { topic, partition, retention } of partitionsIn([layout]))
    PartitionTable.create(database, Number(insert.run(topic, partition).lastInsertRowid), retention);
}

function tablesOf(database: DatabaseSync, layout: LogLayout): PartitionTable[] {
  const rows = database.prepare('SELECT id, topic, partition FROM partitions').all();
  const ids = new Map(rows.map(({ id, topic, partition }) => [`${String(topic)}/${String(partition)}`, Number(id)]));
  return partitionsIn(layout).map(({ topic, partition, retention }) => {
    const id = ids.get(`${topic}/${partition}`);
    if (id === undefined) throw new LogFailure('damaged', `The log is damaged: ${topic}/${partition} is missing.`);
    return new PartitionTable(database, id, retention);
  });
}
