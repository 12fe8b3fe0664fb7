/** What the hooks leave on a request for its controller. */
import type { IdempotencyMark } from '@manyhands/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { Identity } from './api-keys.ts';
import { hashOf, idempotencyMark } from './idempotency.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set before any controller of `/v1` runs. */
    identity: Identity;
    /** Of the raw body; computed only when an `Idempotency-Key` came with it. */
    bodyHash: string;
    /** The answer is an event stream. */
    isStreaming: boolean;
  }
}

const hashOfNoBody = hashOf('');

/** Declared up front, so that every request has the same shape. */
export function declareContext(instance: FastifyInstance): void {
  instance.decorateRequest('identity');
  instance.decorateRequest('bodyHash', hashOfNoBody);
  instance.decorateRequest('isStreaming', false);
}

export function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

export function markOf(request: FastifyRequest): IdempotencyMark | null {
  return idempotencyMark({
    workspaceId: request.identity.workspaceId,
    route: pathOf(request.url),
    key: request.headers['idempotency-key'],
    bodyHash: request.bodyHash,
  });
}
