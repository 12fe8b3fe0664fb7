import { describe, expect, it } from 'vitest';

import { messageForUnknownPath } from './later-resources.ts';

describe('the message for an unknown path', () => {
  it.each(['/v1/vaults', '/v1/memory_stores/memstore_1/memories', '/v1/files', '/v1/deployment_runs'])(
    'says that %s comes later',
    (path) => {
      expect(messageForUnknownPath('GET', path)).toContain('is not available in this version');
    },
  );

  it('says so for later parts of what exists', () => {
    expect(messageForUnknownPath('GET', '/v1/environments/env_1/work/poll')).toContain('not available in this version');
    expect(messageForUnknownPath('POST', '/v1/sessions/sesn_1/fork')).toContain('not available in this version');
  });

  it('just says no to the rest', () => {
    expect(messageForUnknownPath('PUT', '/v1/sessions')).toBe('There is no PUT /v1/sessions.');
  });
});
