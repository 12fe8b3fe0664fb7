import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { KeyServiceError } from '@manyhands/ports';
import type { KeyService } from '@manyhands/ports';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const formatBytes = 1;
const nonceBytes = 12;
const tagBytes = 16;
/** First byte of a wrapped key, so that another way of wrapping can stand beside this one. */
const format = 1;

/**
 * Wraps data keys with a key-encryption key in memory. A thread makes its own from the same 32 bytes.
 *
 * A wrapped key is the format, the nonce, the ciphertext and the tag; the context is authenticated with it.
 */
export class LocalKeyService implements KeyService {
  readonly keyEncryptionKey: Uint8Array;

  constructor(keyEncryptionKey: Uint8Array) {
    if (keyEncryptionKey.length !== keyBytes)
      throw new KeyServiceError(`A key-encryption key has ${keyBytes} bytes, not ${keyEncryptionKey.length}.`);
    this.keyEncryptionKey = keyEncryptionKey;
  }

  wrap(dataKey: Uint8Array, context: string): Uint8Array {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.keyEncryptionKey, nonce);
    cipher.setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(dataKey), cipher.final()]);
    return new Uint8Array(Buffer.concat([Buffer.of(format), nonce, sealed, cipher.getAuthTag()]));
  }

  unwrap(wrapped: Uint8Array, context: string): Uint8Array {
    const sealedFrom = formatBytes + nonceBytes;
    const sealedTo = wrapped.length - tagBytes;
    if (sealedTo < sealedFrom || wrapped[0] !== format) throw new KeyServiceError('These bytes are no wrapped key.');
    const decipher = createDecipheriv(algorithm, this.keyEncryptionKey, wrapped.subarray(formatBytes, sealedFrom));
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(wrapped.subarray(sealedTo));
    try {
      return new Uint8Array(Buffer.concat([decipher.update(wrapped.subarray(sealedFrom, sealedTo)), decipher.final()]));
    } catch (error) {
      throw new KeyServiceError('This key was not wrapped by this key-encryption key for this context.', {
        cause: error,
      });
    }
  }
}
