import type { WorkspaceId } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';

import { credentialOf, fixedApiKeys } from './api-keys.ts';

const workspaceId = 'wrkspc_1' as WorkspaceId;

describe('the credential of a request', () => {
  it('is taken from either header', () => {
    expect(credentialOf({ authorization: 'Bearer sk-1' })).toBe('sk-1');
    expect(credentialOf({ authorization: 'bearer  sk-1 ' })).toBe('sk-1');
    expect(credentialOf({ 'x-api-key': 'sk-2' })).toBe('sk-2');
  });

  it('is refused when both headers are there, even with the same key', () => {
    expect(() => credentialOf({ authorization: 'Bearer sk-1', 'x-api-key': 'sk-1' })).toThrow(
      expect.objectContaining({ code: 'two_credentials' }),
    );
  });

  it.each([
    {},
    { authorization: 'Basic abc' },
    { authorization: 'Bearer' },
    { authorization: '' },
    { 'x-api-key': '' },
  ])('is missing in %o', (headers) => {
    expect(() => credentialOf(headers)).toThrow(expect.objectContaining({ code: 'authentication_failed' }));
  });

  it('is asked for in both of its headers', () => {
    expect(() => credentialOf({})).toThrow(/Authorization: Bearer <key>, or x-api-key: <key>/);
  });
});

describe('fixed API keys', () => {
  const authenticate = fixedApiKeys([
    { key: 'first', apiKeyId: 'apikey_1', workspaceId },
    { key: 'second', apiKeyId: 'apikey_2', workspaceId },
  ]);

  it('say which key it was', () => {
    expect(authenticate('second')).toEqual({ apiKeyId: 'apikey_2', workspaceId });
  });

  it.each(['', 'firs', 'first ', 'FIRST', 'other'])('do not know %j', (key) => {
    expect(authenticate(key)).toBeNull();
  });
});
