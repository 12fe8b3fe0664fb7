import type { Instant, Seq } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';
import { checkRepetition, idempotencyMs } from './idempotency.ts';

const at = 1_000_000 as Instant;
const remembered = { body: 'same', firstSeq: 4 as Seq, lastSeq: 6 as Seq, time: at };
const later = (ms: number): Instant => (at + ms) as Instant;

describe('checkRepetition', () => {
  it('takes a command without a key, or with an unknown one, for new', () => {
    expect(checkRepetition(null, remembered, false, at)).toEqual({ kind: 'new' });
    expect(checkRepetition({ key: 'k', body: 'same' }, null, true, at)).toEqual({ kind: 'new' });
  });

  it('answers the same body with what was written, and refuses another', () => {
    const same = checkRepetition({ key: 'k', body: 'same' }, remembered, false, at);
    expect(same).toEqual({ kind: 'repeated', firstSeq: 4, lastSeq: 6 });
    const other = checkRepetition({ key: 'k', body: 'other' }, remembered, false, at);
    expect(other).toMatchObject({ kind: 'refuse', refusal: { code: 'idempotency_key_reused' } });
  });

  it('forgets events and updates after 24 hours, and creates never', () => {
    const mark = { key: 'k', body: 'same' };
    expect(checkRepetition(mark, remembered, false, later(idempotencyMs))).toMatchObject({ kind: 'repeated' });
    expect(checkRepetition(mark, remembered, false, later(idempotencyMs + 1))).toEqual({ kind: 'new' });
    expect(checkRepetition(mark, remembered, true, later(100 * idempotencyMs))).toMatchObject({ kind: 'repeated' });
  });
});
