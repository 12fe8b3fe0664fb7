import { describe, expect, it } from 'vitest';

import { metadataPatchSchema, metadataSchema, patchMetadata } from './metadata.ts';
import { parseRequest } from './parse-request.ts';

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

describe('metadata', () => {
  it.each([
    ['17 pairs', pairs(17), 'must have at most 16 pairs, got 17'],
    ['an empty key', { '': 'v' }, 'keys must have 1 to 64 characters'],
    ['a long key', { ['k'.repeat(65)]: 'v' }, 'keys must have 1 to 64 characters'],
    ['a long value', { a: 'v'.repeat(513) }, 'a: must have at most 512 characters'],
  ])('refuses %s', (_, metadata, message) => {
    expect(parseRequest(metadataSchema, metadata)).toEqual({
      ok: false,
      refusal: { code: 'invalid_metadata', message },
    });
  });

  it.each([
    ['no text', metadataSchema, { a: null }, 'a: must be a string'],
    ['no text in a patch', metadataPatchSchema, { a: 1 }, 'a: must be a string'],
    ['a list', metadataSchema, [], 'must be an object'],
  ])('refuses %s', (_, schema, metadata, message) => {
    expect(parseRequest(schema, metadata)).toEqual({ ok: false, refusal: { code: 'invalid_request', message } });
  });

  it('may be as large as the limits', () => {
    const metadata = { ...pairs(15), ['🐟'.repeat(64)]: '🐟'.repeat(512) };
    expect(parseRequest(metadataSchema, metadata)).toEqual({ ok: true, value: metadata });
    expect(parseRequest(metadataPatchSchema, { ...pairs(20), a: null }).ok).toBe(true);
  });

  it.each([
    [undefined, false, { a: '1', b: '2' }],
    [null, false, { a: '1', b: '2' }],
    [{ a: null, c: '3' }, false, { b: '2', c: '3' }],
    [{ a: '', b: '4' }, false, { a: '', b: '4' }],
    [{ a: '', b: null }, true, {}],
  ])('patched with %j (empty deletes: %s) is %j', (patch, emptyDeletes, expected) => {
    expect(patchMetadata({ a: '1', b: '2' }, patch, emptyDeletes)).toEqual(expected);
  });

  it('keeps odd keys as plain fields', () => {
    const patched = patchMetadata({}, JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>);
    expect(Object.entries(patched)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });
});
