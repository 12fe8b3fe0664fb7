/**
 * One process per data directory.
 *
 * The lock is SQLite's exclusive lock of an empty file. The operating system takes it back when the process dies,
 * however it dies, and a child does not inherit it, so a sandbox that outlives the server does not keep it. Whoever
 * holds it knows that every earlier process on this directory is dead.
 */
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isMissing, syncDirectory, writeDurableFile } from '../durable-file.ts';

/** Version of everything below the data directory. */
export const dataDirectoryFormat = 1;

export type DataDirectoryErrorCode = 'locked' | 'newer-format' | 'unusable';

export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
  readonly code: DataDirectoryErrorCode;
  constructor(code: DataDirectoryErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Keeps locks that nobody refers to any more from being collected, which would release them. */
const heldLocks = new Set<DataDirectoryLock>();

export class DataDirectoryLock {
  readonly directory: string;
  readonly #held: DatabaseSync;

  private constructor(directory: string, held: DatabaseSync) {
    this.directory = directory;
    this.#held = held;
    heldLocks.add(this);
  }

  /** Makes the directory when it is absent, locks it, and checks its format. Throws `DataDirectoryError`. */
  static acquire(directory: string): DataDirectoryLock {
    const absolute = path.resolve(directory);
    makeDirectory(absolute);
    const held = lock(absolute);
    try {
      checkFormat(absolute);
    } catch (error) {
      held.close();
      throw error;
    }
    return new DataDirectoryLock(absolute, held);
  }

  release(): void {
    heldLocks.delete(this);
    if (this.#held.isOpen) this.#held.close();
  }
}

function makeDirectory(directory: string): void {
  try {
    const first = mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (first !== undefined) syncDirectory(path.dirname(first));
  } catch (error) {
    throw new DataDirectoryError('unusable', `The data directory ${directory} cannot be made.`, { cause: error });
  }
}

const sqliteBusy = 5;

function lock(directory: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    const file = path.join(directory, 'lock');
    makePrivateFile(file);
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy)
      throw new DataDirectoryError('locked', `The data directory ${directory} is used by another process.`, {
        cause: error,
      });
    throw new DataDirectoryError('unusable', `The data directory ${directory} cannot be locked.`, { cause: error });
  }
}

/**
 * SQLite would let everybody read what it makes. A file that is there must not even be opened: closing it again would
 * take away the lock that this process may hold on it.
 */
function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function checkFormat(directory: string): void {
  const file = path.join(directory, 'format');
  const text = readFormat(file);
  if (text === null) {
    writeDurableFile(file, new TextEncoder().encode(`${dataDirectoryFormat}\n`));
    return;
  }
  const format = /^\d{1,9}\n?$/.test(text) ? Number.parseInt(text, 10) : 0;
  if (format > dataDirectoryFormat)
    throw new DataDirectoryError(
      'newer-format',
      `The data directory ${directory} has format ${format}; this version knows ${dataDirectoryFormat} at most.`,
    );
  if (format < 1) throw new DataDirectoryError('unusable', `${file} does not hold the number of a format.`);
}

function readFormat(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw new DataDirectoryError('unusable', `${file} cannot be read.`, { cause: error });
  }
}
