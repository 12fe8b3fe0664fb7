import { BlobStoreError } from '@manyhands/ports';

/** Segments of these characters cannot leave the root, whatever the file system makes of names. */
const keyPattern = /^[A-Za-z0-9_-]{1,200}(?:\/[A-Za-z0-9_-]{1,200}){0,7}$/;

/** The segments of a key. Throws `BlobStoreError` for what no stream and no hash is named. */
export function segmentsOf(key: string): string[] {
  if (!keyPattern.test(key)) throw new BlobStoreError('invalid-key', 'This is no key of a blob.');
  return key.split('/');
}

/** What a prefix names whole, and the start of the name after it. An empty prefix would mean everything, and is refused. */
export function splitPrefix(prefix: string): { folders: string[]; nameStart: string } {
  const endsWithFolder = prefix.endsWith('/');
  const segments = segmentsOf(endsWithFolder ? prefix.slice(0, -1) : prefix);
  return endsWithFolder
    ? { folders: segments, nameStart: '' }
    : { folders: segments.slice(0, -1), nameStart: segments.at(-1) as string };
}
