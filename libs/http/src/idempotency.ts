/**
 * `Idempotency-Key`: the same key and body give the same answer again; the same key with another body is refused. What is
 * stored are hashes. A create's new id is derived from workspace, route and key, so that its repetition meets the stream
 * that the first one made.
 */
import { createHash } from 'node:crypto';

import type { Clock } from '@manyhands/ports';
import { formatId, type IdempotencyMark, type IdKind, type IdOf, type WorkspaceId } from '@manyhands/protocol';

import { ApiError } from './api-error.ts';

const maxKeyLength = 255;

export interface IdempotentRequest {
  workspaceId: WorkspaceId;
  /** Path without the query. */
  route: string;
  /** Value of the header. */
  key: string | string[] | undefined;
  bodyHash: string;
}

/** null when the client gave no key. */
export function idempotencyMark({ workspaceId, route, key, bodyHash }: IdempotentRequest): IdempotencyMark | null {
  if (key === undefined) return null;
  if (typeof key !== 'string' || key.length === 0 || key.length > maxKeyLength) {
    throw new ApiError('invalid_request', `Idempotency-Key: must have 1 to ${maxKeyLength} characters`);
  }
  return { key: sha256(workspaceId, route, key).toString('hex'), body: bodyHash };
}

/** The id of what a create makes: random, or the key's. */
export function newId<K extends IdKind>(kind: K, mark: IdempotencyMark | null, clock: Clock): IdOf[K] {
  return formatId(kind, mark === null ? clock.randomBytes(16) : Buffer.from(mark.key, 'hex'));
}

export function hashOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Lengths go first, so that no two lists of parts are hashed alike. */
function sha256(...parts: string[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest();
}
