/**
 * Tails of a stream's records and of a session's deliveries. Everything is read from the copy, in slices; a signal only
 * says that there is more. So a slow reader costs no memory here, sees no gap and nothing twice.
 */
import type { Delivery, EventCursor } from '@manyhands/ports';
import type { LogRecord, Seq, StreamId } from '@manyhands/protocol';
import type { StreamRow } from '../copy/stream-rows.ts';
import type { Fold } from '../fold/fold.ts';
import type { StreamSignals } from '../fold/stream-signals.ts';
import { GrowthSignal } from './growth-signal.ts';
import type { LogReader } from './log-reader.ts';
import type { SessionEvents } from './session-events.ts';

export interface TailsOptions {
  fold: Fold;
  signals: StreamSignals;
  reader: LogReader;
  events: SessionEvents;
}

const sliceRecords = 500;

export class Tails {
  readonly #options: TailsOptions;

  constructor(options: TailsOptions) {
    this.#options = options;
  }

  async *records(streamId: StreamId, after: Seq, signal: AbortSignal): AsyncIterable<readonly LogRecord[]> {
    const { fold, signals, reader } = this.#options;
    const growth = new GrowthSignal(signals, streamId, signal);
    let at = after;
    try {
      while (await growth.grown()) {
        for (;;) {
          // A view of its own: the fold goes on while the slice is read.
          const row = viewOf(fold, streamId);
          if (!row || row.seq <= at || signal.aborted) break;
          const slice = { after: at, upTo: row.seq, kinds: null, order: 'asc' as const, limit: sliceRecords };
          const { records, complete } = await reader.records(row, slice);
          if (records.length === 0) break;
          at = (records.at(-1) as LogRecord).seq;
          yield records;
          if (complete && row.deletedAt !== 0) return;
        }
      }
    } finally {
      growth.close();
    }
  }

  /** Deliveries after a cursor; it ends after `session.deleted`. */
  async *deliveries(row: StreamRow, after: EventCursor, signal: AbortSignal): AsyncIterable<readonly Delivery[]> {
    const { fold, signals, events } = this.#options;
    const growth = new GrowthSignal(signals, row.streamId, signal);
    let at = after;
    let hasCaughtUp = false;
    try {
      while (await growth.grown()) {
        for (;;) {
          const head = viewOf(fold, row.streamId);
          if (!head || signal.aborted) return;
          const page = await events.deliveries(head, at, sliceRecords);
          at = page.at;
          if (page.deliveries.length > 0) yield page.deliveries;
          if (page.deliveries.some(({ event }) => event.type === 'session.deleted')) return;
          if (!page.hasMore) break;
        }
        // The empty batch that tells the follower that its history is through.
        if (!hasCaughtUp) yield [];
        hasCaughtUp = true;
      }
    } finally {
      growth.close();
    }
  }
}

function viewOf(fold: Fold, streamId: StreamId): StreamRow | null {
  const row = fold.stream(streamId);
  return row && { ...row };
}
