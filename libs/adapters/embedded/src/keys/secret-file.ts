/**
 * Secrets in files of mode 0600. A file that anybody else may read, or that is not what it should be, is refused and
 * never replaced: what it protects may depend on it. Contents never appear in an error.
 */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { isMissing, writeDurableFile } from '../durable-file.ts';

export class SecretFileError extends Error {
  override readonly name = 'SecretFileError';
}

/** Reads a secret; null when there is no such file. */
export function readSecretFile(file: string): Uint8Array | null {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch (error) {
    if (isMissing(error)) return null;
    throw new SecretFileError(`${file} cannot be read.`, { cause: error });
  }
  try {
    const { mode } = fstatSync(handle);
    // Windows has no such modes, and reports 0666 for every file.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new SecretFileError(
        `${file} has mode ${(mode & 0o777).toString(8).padStart(4, '0')}; it must be 0600 (chmod 600 ${file}).`,
      );
    return new Uint8Array(readFileSync(handle));
  } finally {
    closeSync(handle);
  }
}

/**
 * Reads a secret, or makes it when there is none. The caller holds the lock of the data directory.
 */
export function readOrCreateSecretFile(file: string, make: () => Uint8Array): { bytes: Uint8Array; created: boolean } {
  const found = readSecretFile(file);
  if (found) return { bytes: found, created: false };
  const bytes = make();
  writeDurableFile(file, bytes);
  return { bytes, created: true };
}
