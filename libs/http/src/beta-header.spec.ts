import { describe, expect, it } from 'vitest';

import { checkBeta } from './beta-header.ts';

const managed = 'managed-agents-2026-04-01';
const code = (code: string) => expect.objectContaining({ code }) as unknown;

describe('the beta header', () => {
  it.each([managed, `${managed},files-api-2025-04-14`, `files-api-2025-04-14 , ${managed}`])(
    'opens sessions: %s',
    (header) => {
      expect(() => checkBeta('/v1/sessions/:session_id', header)).not.toThrow();
    },
  );

  it.each([undefined, '', 'files-api-2025-04-14'])('hides sessions when it is %s', (header) => {
    expect(() => checkBeta('/v1/sessions', header)).toThrow(code('not_found'));
  });

  it('names unknown values', () => {
    expect(() => checkBeta('/v1/sessions', `${managed}, managed-agents-2099-01-01`)).toThrow(
      'Unexpected value(s) `managed-agents-2099-01-01` for the `anthropic-beta` header',
    );
  });

  it('is not needed for files and skills', () => {
    expect(() => checkBeta('/v1/files', undefined)).not.toThrow();
  });

  it('opens memory stores with either value, and refuses both together', () => {
    expect(() => checkBeta('/v1/memory_stores', managed)).not.toThrow();
    expect(() => checkBeta('/v1/memory_stores', 'agent-memory-2026-07-22')).not.toThrow();
    expect(() => checkBeta('/v1/memory_stores', `agent-memory-2026-07-22,${managed}`)).toThrow(code('invalid_request'));
  });

  it('takes no name of an object property for a resource', () => {
    expect(() => checkBeta('/v1/constructor', undefined)).not.toThrow();
  });
});
