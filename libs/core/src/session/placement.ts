/**
 * Where an event stands in the public order, which is the order of processing: a queued client event has no place until
 * the record that takes or drops it gives it one, and is then delivered again under the same id.
 */
import type { Seq, SessionFoldRecord } from '@manyhands/protocol';
import { publicKinds } from '@manyhands/protocol';

export type Placement =
  /** This record delivers these records' events in this order; their places are (its seq, 1), (its seq, 2) ... */
  | { kind: 'placed'; seqs: readonly Seq[] }
  /** Delivered once with `processed_at: null`; its place comes later. */
  | { kind: 'queued' }
  | { kind: 'internal' };

export function placementOf(record: SessionFoldRecord): Placement {
  switch (record.kind) {
    case 'input.taken':
    case 'input.dropped':
      return { kind: 'placed', seqs: record.facets.seqs };
    case 'user.message':
    case 'system.message':
      return record.facets.placed ? { kind: 'placed', seqs: [record.seq] } : { kind: 'queued' };
    case 'user.interrupt':
      if (record.facets.ignored) return { kind: 'internal' };
      return record.facets.placed ? { kind: 'placed', seqs: [record.seq] } : { kind: 'queued' };
    default:
      return publicKinds.has(record.kind) ? { kind: 'placed', seqs: [record.seq] } : { kind: 'internal' };
  }
}
