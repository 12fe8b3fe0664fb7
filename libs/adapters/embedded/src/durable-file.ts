/**
 * Files that are whole or absent after any crash: written beside their place, made durable, then renamed onto it.
 *
 * Whoever writes here holds the lock of the data directory, so nobody else renames onto the same place.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

/** Creates a file of mode 0600 that is on disk, with its name, when this returns. */
export function writeDurableFile(file: string, bytes: Uint8Array): void {
  const unfinished = `${file}.new`;
  rmSync(unfinished, { force: true });
  const handle = openSync(unfinished, 'wx', 0o600);
  try {
    let written = 0;
    while (written < bytes.length) written += writeSync(handle, bytes, written);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(unfinished, file);
  syncDirectory(path.dirname(file));
}

/** Makes the names in a directory durable; a file's own fsync does not. */
export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
