/** Who asks: the credential of a request, and the keys a server knows. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { WorkspaceId } from '@manyhands/protocol';

import { ApiError } from './api-error.ts';

export interface Identity {
  apiKeyId: string;
  workspaceId: WorkspaceId;
}

/** null: no such key. */
export type Authenticate = (key: string) => Identity | null | Promise<Identity | null>;

/** The one credential of a request: `Authorization: Bearer` or `x-api-key`, and never both. */
export function credentialOf(headers: IncomingHttpHeaders): string {
  const [bearer, apiKey] = [headers.authorization, headers['x-api-key']];
  if (bearer !== undefined && apiKey !== undefined) {
    throw new ApiError('two_credentials', 'Send either the Authorization or the x-api-key header, not both.');
  }
  const key = bearer === undefined ? apiKey : /^Bearer +(\S+)$/i.exec(bearer.trim())?.[1];
  if (typeof key === 'string' && key !== '') return key;
  throw new ApiError(
    'authentication_failed',
    'An API key is required: Authorization: Bearer <key>, or x-api-key: <key>.',
  );
}

export async function identify(headers: IncomingHttpHeaders, authenticate: Authenticate): Promise<Identity> {
  const identity = await authenticate(credentialOf(headers));
  if (identity === null) throw new ApiError('authentication_failed', 'The API key is not valid.');
  return identity;
}

/**
 * Checks against a fixed list. Hashes of equal length are compared, all of them every time, so that the time taken says
 * nothing about how much of a key was right, or which.
 */
export function fixedApiKeys(keys: readonly (Identity & { key: string })[]): Authenticate {
  const known = keys.map(({ key, ...identity }) => ({ hash: sha256(key), identity }));
  return (key) => {
    const presented = sha256(key);
    let found: Identity | null = null;
    for (const { hash, identity } of known) if (timingSafeEqual(hash, presented)) found = identity;
    return found;
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
