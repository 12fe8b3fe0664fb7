import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BlobStoreError } from '@manyhands/ports';
import { blobStoreContract } from '@manyhands/ports/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryBlobStore } from './directory-blob-store.ts';

blobStoreContract('directory', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'blobs-'));
  return {
    store: await DirectoryBlobStore.open(root),
    reopen: () => DirectoryBlobStore.open(root),
    close: async () => rmSync(root, { recursive: true }),
  };
});

describe('DirectoryBlobStore', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'blobs-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('keeps its files from other users', async () => {
    const store = await DirectoryBlobStore.open(path.join(root, 'deep', 'blobs'));
    await store.put('sesn_01a/aa', Uint8Array.of(1));
    expect(statSync(path.join(root, 'deep', 'blobs')).mode & 0o777).toBe(0o700);
    expect(statSync(path.join(root, 'deep', 'blobs', 'sesn_01a', 'aa')).mode & 0o777).toBe(0o600);
  });

  it('removes what a crash left unfinished', async () => {
    mkdirSync(path.join(root, '.unfinished'));
    writeFileSync(path.join(root, '.unfinished', 'half'), 'half a blob');
    await DirectoryBlobStore.open(root);
    expect(readdirSync(path.join(root, '.unfinished'))).toEqual([]);
  });

  it('leaves no folder of a stream that was deleted', async () => {
    const store = await DirectoryBlobStore.open(root);
    await store.put('sesn_01a/aa', Uint8Array.of(1));
    await store.deletePrefix('sesn_01a/');
    expect(existsSync(path.join(root, 'sesn_01a'))).toBe(false);
  });

  it('puts blobs of a stream while its prefix is deleted over and over', async () => {
    const store = await DirectoryBlobStore.open(root);
    for (let n = 0; n < 30; n++)
      await Promise.all([store.put(`sesn_01a/a${n}`, Uint8Array.of(n)), store.deletePrefix('sesn_01a/')]);
    await store.put('sesn_01a/last', Uint8Array.of(1));
    expect(await store.get('sesn_01a/last')).toHaveLength(1);
    expect(readdirSync(path.join(root, '.unfinished'))).toEqual([]);
  });

  it('says that it is unavailable when the file system fails, and leaves nothing behind', async () => {
    const store = await DirectoryBlobStore.open(root);
    writeFileSync(path.join(root, 'sesn_01file'), 'a file where a folder should be');
    await expect(store.put('sesn_01file/aa', Uint8Array.of(1))).rejects.toMatchObject({
      name: 'BlobStoreError',
      code: 'unavailable',
      retriable: true,
    });
    expect(readdirSync(path.join(root, '.unfinished'))).toEqual([]);
  });

  it.each([
    '',
    '/',
    'a//b',
    '/a',
    'a/',
    '.',
    '..',
    'a/../b',
    '../a',
    'a/./b',
    'a\\b',
    'a\0b',
    'a b',
    'ä',
    'x'.repeat(2_000),
  ])('refuses the key %j', async (key) => {
    const store = await DirectoryBlobStore.open(root);
    await expect(store.put(key, Uint8Array.of(1))).rejects.toThrow(BlobStoreError);
    await expect(store.get(key)).rejects.toMatchObject({ code: 'invalid-key', retriable: false });
  });

  it.each(['', '/', '..', '../', 'a/../', './'])('refuses to delete the prefix %j', async (prefix) => {
    await expect((await DirectoryBlobStore.open(root)).deletePrefix(prefix)).rejects.toMatchObject({
      code: 'invalid-key',
    });
  });
});
