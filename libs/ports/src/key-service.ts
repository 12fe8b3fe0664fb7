/**
 * Wraps and unwraps data keys with the one key-encryption key.
 *
 * - `wrap`/`unwrap` are synchronous: the key-encryption key is unwrapped once at start.
 * - `unwrap` throws `KeyServiceError` for bytes that this key did not wrap, or that were wrapped for another context.
 * - The context (stream and key id) is bound in: a wrapped key cannot be moved to another stream.
 */
export interface KeyService {
  wrap(dataKey: Uint8Array, context: string): Uint8Array;
  unwrap(wrapped: Uint8Array, context: string): Uint8Array;
}

export class KeyServiceError extends Error {
  override readonly name = 'KeyServiceError';
}
