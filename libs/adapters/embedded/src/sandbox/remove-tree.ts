/**
 * Removes a directory that somebody else filled.
 *
 * - A path may be longer than the kernel takes, because directories can be made from within each other without end. So
 *   they are taken out of each other into the root, and none is ever reached by more than two names.
 * - Directories may deny themselves to their owner, and names may be no text.
 * - A link is a name like any other, and never a way. Whoever could put one in a directory's place is over by now.
 */
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, lstat, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { isMissing } from '../durable-file.ts';

/** Of a directory's files so many are removed at once. */
const batchSize = 64;

const going = new Map<string, Promise<void>>();

/** Resolves also when there is none. Who asks for one that is being removed waits for its end. */
export function removeTree(path: string): Promise<void> {
  const removal = going.get(path) ?? remove(Buffer.from(path)).finally(() => going.delete(path));
  going.set(path, removal);
  return removal;
}

async function remove(root: Buffer): Promise<void> {
  const found = await findOut(root);
  if (!found?.isDirectory()) return found ? unlink(root) : undefined;
  const waiting = await takeApart(root);
  const newName = freshNames();
  for (let directory = waiting.pop(); directory; directory = waiting.pop()) {
    for (const inner of await takeApart(directory)) {
      const outer = below(root, newName());
      await moveOut(inner, outer);
      waiting.push(outer);
    }
    await rmdir(directory);
  }
  await rmdir(root);
}

async function findOut(path: Buffer): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Removes what is no directory, and gives those that are. */
async function takeApart(directory: Buffer): Promise<Buffer[]> {
  await chmod(directory, 0o700);
  const entries = await readdir(directory, { withFileTypes: true, encoding: 'buffer' });
  const files = entries.filter((entry) => !entry.isDirectory());
  for (let start = 0; start < files.length; start += batchSize) {
    const batch = files.slice(start, start + batchSize);
    await Promise.all(batch.map(({ name }) => unlink(below(directory, name))));
  }
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => below(directory, name));
}

/** A directory names its parent, so to move it is to write to it. */
async function moveOut(inner: Buffer, outer: Buffer): Promise<void> {
  await chmod(inner, 0o700);
  await rename(inner, outer);
}

function freshNames(): () => Buffer {
  const prefix = randomUUID();
  let count = 0;
  return () => Buffer.from(`${prefix}-${++count}`);
}

function below(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), name]);
}
