import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BlobStore } from '../blob-store.ts';
import { unhurried } from './patience.ts';

export interface BlobStoreUnderTest {
  store: BlobStore;
  /** The same blobs as a process started later finds them. */
  reopen(): Promise<BlobStore>;
  close(): Promise<void>;
}

/** What every blob store promises. It is opened once; each test has streams of its own. */
export function blobStoreContract(name: string, open: () => Promise<BlobStoreUnderTest>): void {
  describe(`blob store contract: ${name}`, unhurried, () => {
    let under: BlobStoreUnderTest;
    beforeAll(async () => {
      under = await open();
    });
    afterAll(() => under.close());

    const store = () => under.store;

    it('returns the bytes that were put', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);
      await store().put('sesn_01bytes/aa', bytes);
      expect(await found('sesn_01bytes/aa')).toEqual([...bytes]);
    });

    it('keeps large blobs and empty ones', async () => {
      const large = new Uint8Array(3_000_000).map((_, n) => n % 251);
      await store().put('sesn_01sizes/large', large);
      await store().put('sesn_01sizes/empty', new Uint8Array(0));
      const returned = await store().get('sesn_01sizes/large');
      expect(returned?.length).toBe(large.length);
      expect(returned?.every((byte, n) => byte === n % 251)).toBe(true);
      expect(await found('sesn_01sizes/empty')).toEqual([]);
    });

    it('answers null for a key that is not there', async () => {
      await store().put('sesn_01there/aa', Uint8Array.of(1));
      for (const key of ['sesn_01there/bb', 'sesn_01there', 'sesn_01there/aa/cc', 'sesn_01nowhere/aa'])
        expect(await store().get(key)).toBeNull();
    });

    it('takes the same key with the same bytes again, also at once', async () => {
      const put = () => store().put('sesn_01again/aa', Uint8Array.of(1, 2, 3));
      await Promise.all([put(), put(), put()]);
      await put();
      expect(await found('sesn_01again/aa')).toEqual([1, 2, 3]);
    });

    it('keeps blobs beyond the process', async () => {
      await store().put('resources/wrkspc_01kept/aa', Uint8Array.of(7));
      const again = await under.reopen();
      expect([...((await again.get('resources/wrkspc_01kept/aa')) ?? [])]).toEqual([7]);
    });

    it('deletes every key of a prefix and no other', async () => {
      const doomed = ['sesn_01gone/aa', 'sesn_01gone/ab', 'sesn_01gone/folder/aa'];
      const kept = ['sesn_01gone2/aa', 'sesn_01gon/aa', 'resources/sesn_01gone/aa'];
      for (const key of [...doomed, ...kept]) await store().put(key, Uint8Array.of(1));
      await store().deletePrefix('sesn_01gone/');
      for (const key of doomed) expect(await store().get(key)).toBeNull();
      for (const key of kept) expect(await found(key)).toEqual([1]);
    });

    it('deletes by the start of a name too', async () => {
      for (const key of ['sesn_01part/aa', 'sesn_01part/ab', 'sesn_01part/ba'])
        await store().put(key, Uint8Array.of(1));
      await store().deletePrefix('sesn_01part/a');
      expect(await store().get('sesn_01part/aa')).toBeNull();
      expect(await store().get('sesn_01part/ab')).toBeNull();
      expect(await found('sesn_01part/ba')).toEqual([1]);
    });

    it('deletes a prefix again, or one that was never there', async () => {
      await store().put('sesn_01twice/aa', Uint8Array.of(1));
      await store().deletePrefix('sesn_01twice/');
      await store().deletePrefix('sesn_01twice/');
      await store().deletePrefix('sesn_01never/');
      await store().put('sesn_01twice/aa', Uint8Array.of(2));
      expect(await found('sesn_01twice/aa')).toEqual([2]);
    });

    async function found(key: string): Promise<number[] | null> {
      const bytes = await store().get(key);
      return bytes && [...bytes];
    }
  });
}
