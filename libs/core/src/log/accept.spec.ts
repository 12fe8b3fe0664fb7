import type { Commit, Epoch, Instant, Seq } from '@manyhands/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accept, emptyHead, recordTime } from './accept.ts';
import type { StreamHead } from './accept.ts';

function commit(epoch: number, expectedSeq: number, kinds: string[] = ['user.message'], at = 100): Commit {
  const records = kinds.map((kind) => ({ id: 'sevt_1', kind, facets: {} }));
  return { v: 1, epoch, expectedSeq, at, records } as unknown as Commit;
}

function head(seq: number, epoch: number, time = 0): StreamHead {
  return { seq: seq as Seq, epoch: epoch as Epoch, time: time as Instant };
}

const now = 100 as Instant;

describe('accept', () => {
  it.each([
    ['the next commit of the epoch', head(5, 2), commit(2, 5), 'accepted'],
    ['a claim with the next epoch', head(5, 2), commit(3, 5, ['lease.taken']), 'accepted'],
    ['the first commit of a stream', emptyHead, commit(0, 0), 'accepted'],
    ['a commit that expects an earlier head', head(5, 2), commit(2, 4), 'seq'],
    ['a commit that expects a later head', head(5, 2), commit(2, 6), 'seq'],
    ['a commit of an older epoch (L3)', head(5, 2), commit(1, 5), 'epoch'],
    ['a commit of the next epoch without a claim', head(5, 2), commit(3, 5), 'epoch'],
    ['a claim that keeps the epoch', head(5, 2), commit(2, 5, ['lease.taken']), 'epoch'],
    ['a claim that skips an epoch', head(5, 2), commit(4, 5, ['lease.taken']), 'epoch'],
  ])('%s: %4$s', (_, before, next, expected) => {
    const verdict = accept(before, next, now);
    expect(verdict.accepted ? 'accepted' : verdict.reason).toBe(expected);
  });

  it('gives the records of a commit the next seqs and one time', () => {
    const verdict = accept(head(5, 2, 40), commit(2, 5, ['user.message', 'session.status_running'], 90), now);
    expect(verdict).toEqual({ accepted: true, firstSeq: 6, head: head(7, 2, 90) });
  });

  it('looks at the envelope only: kinds of later builds are accepted (L1)', () => {
    expect(accept(head(5, 2), commit(2, 5, ['hand.painted']), now).accepted).toBe(true);
  });

  it.each([
    ['the writer’s clock, when nothing speaks against it', 10, 20, 30, 20],
    ['the append time, when the writer’s clock runs ahead', 10, 999, 30, 30],
    ['the time before, when the clocks ran backwards', 50, 20, 30, 50],
  ])('dates a record by %s (L8)', (_, previous, writer, appended, expected) => {
    expect(recordTime(previous as Instant, writer as Instant, appended as Instant)).toBe(expected);
  });

  it('accepts each commit at most once, however often and late copies of it arrive (L4)', () => {
    const writes = fc.array(fc.record({ claims: fc.boolean(), size: fc.integer({ min: 1, max: 3 }) }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(writes, fc.array(fc.nat(200), { maxLength: 40 }), (plans, repeats) => {
        let at: StreamHead = emptyHead;
        const sent = plans.map(({ claims, size }) => {
          const kinds = Array.from({ length: size }, () => 'user.message');
          const next = commit(at.epoch + (claims ? 1 : 0), at.seq, claims ? ['lease.taken', ...kinds] : kinds);
          const verdict = accept(at, next, now);
          if (verdict.accepted) at = verdict.head;
          return next;
        });
        const late = sent.length === 0 ? [] : repeats.map((index) => sent[index % sent.length] as Commit);
        for (const copy of late) expect(accept(at, copy, now).accepted).toBe(false);
        const records = sent.reduce((sum, { records: { length } }) => sum + length, 0);
        expect(at.seq).toBe(records);
      }),
    );
  });

  it('never lets an older epoch back in, in whatever order commits lie in the topic (L3, L5)', () => {
    const anyCommit = fc
      .tuple(fc.nat(3), fc.nat(6), fc.boolean())
      .map(([epoch, seq, claims]) => commit(epoch, seq, claims ? ['lease.taken'] : ['user.message']));
    fc.assert(
      fc.property(fc.array(anyCommit, { maxLength: 60 }), (topic) => {
        let at: StreamHead = emptyHead;
        for (const next of topic) {
          const verdict = accept(at, next, now);
          if (!verdict.accepted) continue;
          expect(verdict.firstSeq).toBe(at.seq + 1);
          expect(verdict.head.seq).toBe(at.seq + next.records.length);
          expect(verdict.head.epoch).toBeGreaterThanOrEqual(at.epoch);
          at = verdict.head;
        }
      }),
    );
  });
});
