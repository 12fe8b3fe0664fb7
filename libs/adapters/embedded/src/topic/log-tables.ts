/** What the log's file holds beside the messages: which partitions there are, and which log it is. */
import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { LogFailure } from './log-failure.ts';
import { partitionsIn } from './log-layout.ts';
import type { LogLayout, TopicLayout } from './log-layout.ts';
import { PartitionTable } from './partition-table.ts';

export const partitionsTable = `
  CREATE TABLE partitions (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    UNIQUE (topic, partition)
  )`;

/** Adds the topics that this log has never seen, in one transaction; a known one with another count is refused (L9). */
export function addTopics(database: DatabaseSync, layout: LogLayout): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const topic of layout) if (isNewTopic(database, topic)) addTopic(database, topic);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

export function isNewTopic(database: DatabaseSync, { topic, partitions }: TopicLayout): boolean {
  const row = database.prepare('SELECT count(*) AS held FROM partitions WHERE topic = ?').get(topic);
  const held = Number(row?.['held']);
  if (held !== 0 && held !== partitions)
    throw new LogFailure(
      'identity-mismatch',
      `The topic ${topic} has ${held} partitions in this log; ${partitions} are configured, and the number cannot change.`,
    );
  return held === 0;
}

/** The numbers of the tables, by topic and partition. */
export function partitionIds(database: DatabaseSync): Map<string, number> {
  const rows = database.prepare('SELECT id, topic, partition FROM partitions').all();
  return new Map(rows.map(({ id, topic, partition }) => [`${String(topic)}/${String(partition)}`, Number(id)]));
}

/** Gives the log its identity when it has none: a random name that tells it from every other log. */
export function addIdentity(database: DatabaseSync): void {
  if (identityIn(database) !== null) return;
  const identity = randomBytes(16).toString('hex');
  database.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS identity (identity TEXT NOT NULL);
    INSERT INTO identity (identity) VALUES ('${identity}');
    COMMIT`);
}

/** null in a log that was made before logs had one. */
export function identityIn(database: DatabaseSync): string | null {
  const table = database.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'identity'`).get();
  const row = table && database.prepare('SELECT identity FROM identity').get();
  return row ? String(row['identity']) : null;
}

function addTopic(database: DatabaseSync, layout: TopicLayout): void {
  const insert = database.prepare('INSERT INTO partitions (topic, partition) VALUES (?, ?)');
  for (const { topic, partition, retention } of partitionsIn([layout]))
    PartitionTable.create(database, Number(insert.run(topic, partition).lastInsertRowid), retention);
}
