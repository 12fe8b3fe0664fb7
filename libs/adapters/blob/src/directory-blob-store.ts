/**
 * Blobs as files: the key is the path below the root.
 *
 * A blob is written beside the tree, made durable, and renamed to its place, so that a file is whole or absent after
 * any crash; what a crash left unfinished is removed at the next opening. One process at a time opens a root.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { BlobStoreError } from '@manyhands/ports';
import type { BlobStore } from '@manyhands/ports';
import { segmentsOf, splitPrefix } from './blob-key.ts';

/** No segment of a key has a dot, so no key names it. */
const unfinishedFolder = '.unfinished';

const moveAttempts = 5;

export class DirectoryBlobStore implements BlobStore {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Opens a root, or makes it with mode 0700. */
  static async open(root: string): Promise<DirectoryBlobStore> {
    const store = new DirectoryBlobStore(path.resolve(root));
    await translated(() => store.#prepare());
    return store;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const file = this.#path(segmentsOf(key));
    await translated(async () => {
      const unfinished = this.#path([unfinishedFolder, randomUUID()]);
      try {
        await writeDurably(unfinished, bytes);
        await this.#moveTo(file, unfinished);
      } catch (error) {
        await rm(unfinished, { force: true }); // It may be what fills the disk.
        throw error;
      }
      await this.#syncUpwards(path.dirname(file));
    });
  }

  async get(key: string): Promise<Uint8Array | null> {
    const file = this.#path(segmentsOf(key));
    return translated(async () => new Uint8Array(await readFile(file)), null);
  }

  async deletePrefix(prefix: string): Promise<void> {
    const { folders, nameStart } = splitPrefix(prefix);
    const folder = this.#path(folders);
    await translated(async () => {
      await (nameStart === '' ? removeFolder(folder) : removeNames(folder, nameStart));
    }, undefined);
  }

  async #prepare(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    await rm(this.#path([unfinishedFolder]), { recursive: true, force: true });
    await mkdir(this.#path([unfinishedFolder]), { mode: 0o700 });
    await sync(this.#root);
    await sync(path.dirname(this.#root));
  }

  async #moveTo(file: string, unfinished: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        return await rename(unfinished, file);
      } catch (error) {
        // A deletion of the stream's prefix removed the folder in between.
        if (!isMissing(error) || attempt === moveAttempts) throw error;
      }
    }
  }

  /** A file's name is durable with its folder, and the folder's with the one above. A folder may be gone again. */
  async #syncUpwards(folder: string): Promise<void> {
    for (let at = folder; at.startsWith(this.#root); at = path.dirname(at)) await translated(() => sync(at), undefined);
  }

  #path(segments: readonly string[]): string {
    return path.join(this.#root, ...segments);
  }
}

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Again when a put filled a folder while it was emptied. */
const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 5 };

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, removal);
  await sync(path.dirname(folder));
}

async function removeNames(folder: string, nameStart: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(nameStart));
  for (const name of names) await rm(path.join(folder, name), removal);
  await sync(folder);
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Runs an operation and translates what the file system throws; with `whenMissing`, a missing file is an answer. */
async function translated<T>(operation: () => Promise<T>, ...whenMissing: T[]): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (isMissing(error) && whenMissing.length > 0) return whenMissing[0] as T;
    const reason = error instanceof Error ? error.message : String(error);
    throw new BlobStoreError('unavailable', `The blob store cannot be used: ${reason}.`, { cause: error });
  }
}

/** Also when the path leads through a file, or ends at a folder: no key is there. */
const missingCodes: unknown[] = ['ENOENT', 'ENOTDIR', 'EISDIR'];

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && missingCodes.includes(error.code);
}
