/**
 * Opens the copy's database, and throws it away when it is damaged or of another version (L6).
 *
 * `synchronous=OFF`: a power cut may damage the file, and then it is folded again. `secure_delete`: what a deletion frees
 * is overwritten, so that erased rows do not linger in free pages.
 */
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Logger } from '@manyhands/ports';
import { copySchema, copySchemaVersion } from './copy-schema.ts';

export const inMemory = ':memory:';

export interface CopyIdentity {
  /** Partition counts and names of the topics: another log needs another copy (L9). */
  log: string;
}

export function openCopyFile(path: string, identity: CopyIdentity, logger: Logger): DatabaseSync {
  const expected = `${copySchemaVersion} ${identity.log}`;
  if (path !== inMemory) {
    const usable = openUsable(path, expected, logger);
    if (usable) return usable;
    removeDatabase(path);
  }
  const db = openDatabase(path);
  db.exec(copySchema);
  db.prepare('INSERT INTO meta (name, value) VALUES (?, ?)').run('version', expected);
  return db;
}

export function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA secure_delete=ON; PRAGMA busy_timeout=5000');
  // The default of 2 MB makes a rebuild read its own index pages back again and again.
  db.exec('PRAGMA cache_size=-32000; PRAGMA temp_store=MEMORY');
  return db;
}

export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

function openUsable(path: string, expected: string, logger: Logger): DatabaseSync | null {
  let db: DatabaseSync | null = null;
  try {
    db = openDatabase(path);
    const row = db.prepare("SELECT value FROM meta WHERE name = 'version'").get() as { value: string } | undefined;
    const check = db.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
    if (row?.value === expected && check.quick_check === 'ok') return db;
    logger.info({ path, found: row?.value ?? null, expected }, 'the copy is of another version and is folded again');
  } catch (cause) {
    // A missing table, a torn file or a file that is no database: all of them are cured by folding again.
    logger.info({ path, cause: String(cause) }, 'the copy is missing or damaged and is folded again');
  }
  db?.close();
  return null;
}
