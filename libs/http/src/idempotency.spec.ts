import type { Clock } from '@manyhands/ports';
import { isId, type WorkspaceId } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';

import { hashOf, idempotencyMark, newId, type IdempotentRequest } from './idempotency.ts';

const request: IdempotentRequest = {
  workspaceId: 'wrkspc_1' as WorkspaceId,
  route: '/v1/sessions',
  key: 'order-7',
  bodyHash: hashOf('{}'),
};
const clock = { randomBytes: (length: number) => new Uint8Array(length).fill(7) } as Clock;

describe('the idempotency mark', () => {
  it('is the same for the same workspace, route and key, and never holds the key', () => {
    expect(idempotencyMark(request)).toEqual(idempotencyMark({ ...request }));
    expect(JSON.stringify(idempotencyMark(request))).not.toContain('order-7');
  });

  it('tells workspaces, routes, keys and bodies apart', () => {
    const others: Partial<IdempotentRequest>[] = [
      { workspaceId: 'wrkspc_2' as WorkspaceId },
      { route: '/v1/agents' },
      { key: 'order-8' },
    ];
    for (const other of others) {
      expect(idempotencyMark({ ...request, ...other })?.key).not.toBe(idempotencyMark(request)?.key);
    }
    expect(idempotencyMark({ ...request, bodyHash: hashOf('{"a":1}') })?.body).not.toBe(idempotencyMark(request)?.body);
  });

  it('does not confuse where one part ends and the next begins', () => {
    const shifted = { ...request, route: '/v1/session', key: 'sorder-7' };
    expect(idempotencyMark(shifted)?.key).not.toBe(idempotencyMark(request)?.key);
  });

  it('is null without a key', () => {
    expect(idempotencyMark({ ...request, key: undefined })).toBeNull();
  });

  it('refuses empty keys and keys beyond 255 characters', () => {
    expect(idempotencyMark({ ...request, key: 'k'.repeat(255) })).not.toBeNull();
    for (const key of ['', 'k'.repeat(256)]) {
      expect(() => idempotencyMark({ ...request, key })).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    }
  });
});

describe('the id of something new', () => {
  it('is derived from the mark, so that a repetition names the same thing', () => {
    const mark = idempotencyMark(request);
    const id = newId('session', mark, clock);
    expect(isId('session', id)).toBe(true);
    expect(newId('session', mark, clock)).toBe(id);
    expect(newId('session', idempotencyMark({ ...request, key: 'order-8' }), clock)).not.toBe(id);
  });

  it('is random without one', () => {
    expect(newId('agent', null, clock)).not.toBe(newId('agent', idempotencyMark(request), clock));
  });
});
