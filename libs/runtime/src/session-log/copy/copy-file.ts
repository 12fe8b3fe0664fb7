/**
 * Opens the copy's database, and throws it away when it is damaged or of another version (L6).
 *
 * `synchronous=OFF`: a power cut may damage the file, and then it is folded again. `secure_delete`: what a deletion frees
 * is overwritten, so that erased rows do not linger in free pages.
 */
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Logger } from '@manyhands/ports';
import { copySchema, copySchemaVersion } from './copy-schema.ts';

export const inMemory = ':memory:';

export interface CopyIdentity {
  /** Partition counts and names of the topics: another log needs another copy (L9). */
  partitions: string;
  /** What tells the log from others with the same partitions; empty where the topic does not know. */
  log: string;
}

export function openCopyFile(path: string, identity: CopyIdentity, logger: Logger): DatabaseSync {
  const expected = { version: `${copySchemaVersion} ${identity.partitions}`, log: identity.log };
  if (path !== inMemory) {
    const usable = existsSync(path) ? openUsable(path, expected, logger) : null;
    if (usable) return usable;
    removeDatabase(path);
  }
  const db = openDatabase(path);
  db.exec(copySchema);
  const insert = db.prepare('INSERT INTO meta (name, value) VALUES (?, ?)');
  for (const [name, value] of Object.entries(expected)) insert.run(name, value);
  return db;
}

export function openDatabase(path: string): DatabaseSync {
  if (path !== inMemory) makePrivateFile(path);
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA secure_delete=ON');
  // The default of 2 MB makes a rebuild read its own index pages back again and again.
  db.exec('PRAGMA cache_size=-32000; PRAGMA temp_store=MEMORY');
  return db;
}

/** SQLite would let everybody read what it makes. It gives its other files the mode of this one. */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // A file that is there must not be opened beside SQLite: closing it would take SQLite's locks away.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

/** To be called before the database is closed in order: the next start need not look through every page. */
export function markClosed(db: DatabaseSync): void {
  db.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('closed', 'in order')").run();
}

function isWhole(db: DatabaseSync): boolean {
  if (schemaOf(db) !== expectedSchema()) return false;
  const wasClosed = metaOf(db, 'closed') !== null;
  if (wasClosed) db.exec("DELETE FROM meta WHERE name = 'closed'");
  else if ((db.prepare('PRAGMA quick_check(1)').get() as { quick_check: string }).quick_check !== 'ok') return false;
  return true;
}

function schemaOf(db: DatabaseSync): string {
  return JSON.stringify(db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all());
}

function expectedSchema(): string {
  const db = new DatabaseSync(inMemory);
  db.exec(copySchema);
  const schema = schemaOf(db);
  db.close();
  return schema;
}

export function metaOf(db: DatabaseSync, name: string): string | null {
  const row = db.prepare('SELECT value FROM meta WHERE name = ?').get(name) as { value: string } | undefined;
  return row?.value ?? null;
}

function openUsable(path: string, expected: { version: string; log: string }, logger: Logger): DatabaseSync | null {
  let db: DatabaseSync | null = null;
  try {
    db = openDatabase(path);
    const version = metaOf(db, 'version');
    if (version !== expected.version)
      logger.info({ path, version, expected }, 'the copy is of another version and is folded again');
    else if (metaOf(db, 'log') !== expected.log)
      logger.warn({ path }, 'the copy was folded from another log and is folded again');
    else if (isWhole(db)) return db;
    else logger.warn({ path }, 'the copy is damaged and is folded again');
  } catch (cause) {
    // A torn file, or one that is no database of ours, is cured by folding again.
    logger.info({ path, cause: String(cause) }, 'the copy is damaged and is folded again');
  }
  db?.close();
  return null;
}
