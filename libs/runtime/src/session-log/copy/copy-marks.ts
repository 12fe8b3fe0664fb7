/** What a copy says of the log it was folded from, read without changing it. */
import { existsSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { metaOf } from './copy-file.ts';
import { copySchemaVersion } from './copy-schema.ts';
import { PositionRows, type PositionRow } from './position-rows.ts';

export interface CopyMarks {
  /** The identity of the log; empty where it had none. */
  log: string;
  positions: PositionRow[];
}

/** null when there is no copy, or none that this build would use: it says nothing, and is folded again. */
export function readCopyMarks(path: string): CopyMarks | null {
  if (!existsSync(path)) return null;
  let db: DatabaseSync | null = null;
  try {
    db = openReadOnly(path);
    if (!metaOf(db, 'version')?.startsWith(`${copySchemaVersion} `)) return null;
    return { log: metaOf(db, 'log') ?? '', positions: new PositionRows(db).all() };
  } catch {
    return null; // Damaged, which is told where it is folded again.
  } finally {
    db?.close();
  }
}

/** Without a write-ahead log as a file that never changes, so that SQLite makes no files beside it. */
function openReadOnly(path: string): DatabaseSync {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    return new DatabaseSync(path, { readOnly: true, timeout: 1_000 });
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true });
}
