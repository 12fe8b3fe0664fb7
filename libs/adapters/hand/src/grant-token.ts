import { sign, verify, type KeyObject } from 'node:crypto';
import { grantText, parseGrantText, type HandGrant } from '@manyhands/core';

/** A grant as it travels: `base64url(text).base64url(Ed25519 signature of the text)`. */
export function signGrant(grant: HandGrant, privateKey: KeyObject): string {
  const text = Buffer.from(grantText(grant));
  return `${text.toString('base64url')}.${sign(null, text, privateKey).toString('base64url')}`;
}

/** The grant in a token that this key signed, or null. Says nothing about what the grant admits. */
export function verifyGrant(token: string, publicKey: KeyObject): HandGrant | null {
  const [text, signature, ...rest] = token.split('.').map((part) => Buffer.from(part, 'base64url'));
  if (!text || !signature || rest.length > 0) return null;
  return verify(null, text, publicKey, signature) ? parseGrantText(text.toString('utf8')) : null;
}
