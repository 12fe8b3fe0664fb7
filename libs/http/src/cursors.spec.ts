import type { Instant, Seq } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';

import {
  decodeEventCursor,
  decodeResourceCursor,
  decodeVersionCursor,
  encodeEventCursor,
  encodeResourceCursor,
  encodeVersionCursor,
} from './cursors.ts';

const at = { createdAt: 1_000 as Instant, id: 'sesn_1' };
const invalid = expect.objectContaining({ code: 'invalid_cursor' }) as unknown;

describe('cursors', () => {
  it('come back as they were, in both directions', () => {
    for (const backwards of [false, true]) {
      const text = encodeResourceCursor('sessions', 'desc', { at, backwards });
      expect(decodeResourceCursor(text, 'sessions', 'desc')).toEqual({ at, backwards });
    }
    const place = { seq: 12 as Seq, n: 1 };
    expect(decodeEventCursor(encodeEventCursor('asc', place, 1_000 as Instant), 'asc', {})).toEqual(place);
    expect(decodeVersionCursor(encodeVersionCursor(3))).toBe(3);
  });

  it('fit into a query string', () => {
    expect(encodeResourceCursor('sessions', 'desc', { at, backwards: false })).toMatch(/^[\w-]+$/);
  });

  it('are refused in another order or another list', () => {
    const text = encodeResourceCursor('sessions', 'desc', { at, backwards: false });
    expect(() => decodeResourceCursor(text, 'sessions', 'asc')).toThrow(invalid);
    expect(() => decodeResourceCursor(text, 'agents', 'desc')).toThrow(invalid);
    expect(() => decodeEventCursor(text, 'desc', {})).toThrow(invalid);
    expect(() => decodeVersionCursor(text)).toThrow(invalid);
  });

  it('are refused when the filter excludes their position', () => {
    const text = encodeResourceCursor('sessions', 'desc', { at, backwards: false });
    const decode = (filter: object) => decodeResourceCursor(text, 'sessions', 'desc', filter);
    for (const filter of [{ gt: 1_000 }, { gte: 1_001 }, { lt: 1_000 }, { lte: 999 }]) {
      expect(() => decode(filter)).toThrow(invalid);
    }
    expect(decode({ gte: 1_000, lte: 1_000 })?.at).toEqual(at);
  });

  it('of a waiting event pass every filter: it has no time yet', () => {
    const text = encodeEventCursor('asc', { seq: 3 as Seq, n: 0 }, null);
    expect(decodeEventCursor(text, 'asc', { gt: 5_000 as Instant })).toEqual({ seq: 3, n: 0 });
  });

  it.each(['x', 'e30', 'bnVsbA', '%00', 'eyJsIjoiZXZlbnRzIn0', 'a'.repeat(10_000)])(
    'are refused when they are %.20s',
    (text) => {
      expect(() => decodeEventCursor(text, 'asc', {})).toThrow(invalid);
      expect(() => decodeResourceCursor(text, 'sessions', 'desc')).toThrow(invalid);
      expect(() => decodeVersionCursor(text)).toThrow(invalid);
    },
  );
});
