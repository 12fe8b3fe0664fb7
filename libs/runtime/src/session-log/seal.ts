/**
 * Sealing of payloads with a stream's data key: AES-256-GCM, nonce (12 bytes), ciphertext, tag (16 bytes). The stream's and
 * the record's id are bound in, so that no payload can be moved to another record.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { EventId, StreamId } from '@manyhands/protocol';

const nonceBytes = 12;
const tagBytes = 16;
export const sealOverheadBytes = nonceBytes + tagBytes;

/** What a payload, or a field of it in the blob store, is bound to. */
export function sealContext(streamId: StreamId, recordId: EventId, field?: string): string {
  return field === undefined ? `${streamId}/${recordId}` : `${streamId}/${recordId}/${field}`;
}

export function sealBytes(plain: Uint8Array, key: Uint8Array, nonce: Uint8Array, context: string): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when the bytes were not sealed with this key for this context. */
export function openBytes(sealed: Uint8Array, key: Uint8Array, context: string): Buffer {
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes));
  cipher.setAAD(Buffer.from(context));
  cipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  return Buffer.concat([cipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes)), cipher.final()]);
}
