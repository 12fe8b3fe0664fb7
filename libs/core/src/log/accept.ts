/**
 * "The log is the lock": whether a commit counts is a pure function of what stands before it in its partition.
 *
 * L1. Only the envelope is looked at, so every replica of every version comes to the same verdict.
 * L3. A commit of an older epoch is refused: a zombie may talk, nobody listens.
 * L4. A commit sent twice is accepted at most once, because its expected seq is gone after the first time.
 * L8. All records of a commit share one time, which never runs backwards and which a fast writer's clock cannot push
 *     ahead of the topic's.
 */
import type { Commit, Epoch, Instant, Seq } from '@manyhands/protocol';

/** Where a stream stands. */
export interface StreamHead {
  seq: Seq;
  epoch: Epoch;
  time: Instant;
}

export const emptyHead: StreamHead = { seq: 0 as Seq, epoch: 0 as Epoch, time: 0 as Instant };

export type Verdict =
  { accepted: true; head: StreamHead; firstSeq: Seq } | { accepted: false; reason: 'seq' | 'epoch' };

/** The verdict on the next commit of a stream, and the head it leaves. */
export function accept(head: StreamHead, commit: Commit, appendedAt: Instant): Verdict {
  if (commit.expectedSeq !== head.seq) return { accepted: false, reason: 'seq' };
  const takesLease = commit.records.some((record) => record.kind === 'lease.taken');
  if (commit.epoch !== head.epoch + (takesLease ? 1 : 0)) return { accepted: false, reason: 'epoch' };
  return {
    accepted: true,
    firstSeq: (head.seq + 1) as Seq,
    head: {
      seq: (head.seq + commit.records.length) as Seq,
      epoch: commit.epoch,
      time: recordTime(head.time, commit.at, appendedAt),
    },
  };
}

/** L8: `max(previous, min(writer's clock, append time))`. */
export function recordTime(previous: Instant, writersClock: Instant, appendedAt: Instant): Instant {
  return Math.max(previous, Math.min(writersClock, appendedAt)) as Instant;
}
