import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../durable-file.ts';

/** Removes a directory that somebody else filled, directories that deny themselves to their owner included. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'ENOTEMPTY') throw error;
    await openUp(path);
    await rm(path, { recursive: true, force: true });
  }
}

/** What is gone meanwhile was removed by the first attempt, which may still be at it. */
async function openUp(path: string): Promise<void> {
  try {
    if (!(await lstat(path)).isDirectory()) return;
    await chmod(path, 0o700);
    for (const name of await readdir(path)) await openUp(join(path, name));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
