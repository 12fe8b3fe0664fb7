/**
 * Bytes under a key, for what a commit cannot hold (L10).
 *
 * - `put` is durable when it resolves; the same key again with the same bytes changes nothing.
 * - `get` answers null for a key that is not there.
 * - `deletePrefix` removes every key that starts with the prefix, resolves also when there was none, and may be repeated.
 * - Keys are segments of `A-Z a-z 0-9 _ -`, joined by `/`; a store may refuse others. All throw `BlobStoreError`.
 */
export interface BlobStore {
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | null>;
  deletePrefix(prefix: string): Promise<void>;
}

export type BlobStoreErrorCode = 'unavailable' | 'invalid-key';

export class BlobStoreError extends Error {
  readonly code: BlobStoreErrorCode;
  readonly retriable: boolean;
  constructor(code: BlobStoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'BlobStoreError';
    this.code = code;
    this.retriable = code === 'unavailable';
  }
}
