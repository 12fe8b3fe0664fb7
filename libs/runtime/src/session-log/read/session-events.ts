/** Public events of a session: pages of the public order, deliveries, and what a request wrote. */
import type { SessionState } from '@manyhands/core';
import type { Delivery, EventCursor, EventQuery, EventsPage } from '@manyhands/ports';
import type { LogRecord, Seq, SessionEvent, StreamId } from '@manyhands/protocol';
import type { StreamRow } from '../copy/stream-rows.ts';
import { Lru } from '../lru.ts';
import { renderPlaced } from '../render/placed-events.ts';
import { renderEvent } from '../render/session-event.ts';
import type { LogReader } from './log-reader.ts';
import type { PlacedEvent } from './read-request.ts';

const noBounds = {};
const sentKinds = [
  'user.message',
  'system.message',
  'user.interrupt',
  'user.tool_confirmation',
  'user.custom_tool_result',
];
const knownNames = 5_000;

export class SessionEvents {
  readonly #reader: LogReader;
  /** An agent's name never changes within its session. */
  readonly #agentNames = new Lru<StreamId, string>(knownNames);

  constructor(reader: LogReader) {
    this.#reader = reader;
  }

  async page(row: StreamRow, state: SessionState, query: EventQuery): Promise<EventsPage> {
    return this.#reader.page(row, {
      of: 'places',
      upTo: row.seq,
      waiting: state.queue.map((input) => input.seq),
      agentName: await this.#agentName(row),
      ...query,
    });
  }

  async deliveries(
    row: StreamRow,
    after: EventCursor,
    limit: number,
  ): Promise<{ deliveries: Delivery[]; at: EventCursor; hasMore: boolean }> {
    const upTo = row.seq;
    const page = await this.#reader.events(row, {
      of: 'deliveries',
      upTo,
      waiting: [],
      order: 'asc',
      after,
      limit,
      types: null,
      createdAt: noBounds,
    });
    const deliveries = await this.#render(row, page.events, page.records);
    // Behind the last record there may be internal ones; they need not be looked through again.
    const at = page.hasMore ? (page.events.at(-1)?.cursor ?? after) : behind(upTo, after);
    return { deliveries, at, hasMore: page.hasMore };
  }

  /** What a client sent with the records from one seq to another, as it stood then. */
  async writtenBy(row: StreamRow, firstSeq: Seq, lastSeq: Seq): Promise<SessionEvent[]> {
    const slice = {
      after: (firstSeq - 1) as Seq,
      upTo: lastSeq,
      kinds: sentKinds,
      order: 'asc' as const,
      limit: lastSeq - firstSeq + 1,
    };
    const { records } = await this.#reader.records(row, slice);
    return records.flatMap((record) => {
      if ('cause' in record.facets && record.facets.cause !== undefined) return [];
      const isWaiting = 'placed' in record.facets && !record.facets.placed;
      const processedAt = isWaiting ? null : record.time;
      return renderEvent(record, { processedAt, agentName: '', record: () => null }) ?? [];
    });
  }

  forget(streamId: StreamId): void {
    this.#agentNames.delete(streamId);
  }

  async #render(
    row: StreamRow,
    placed: readonly PlacedEvent[],
    records: ReadonlyMap<Seq, LogRecord>,
  ): Promise<Delivery[]> {
    const needsName = placed.some(({ eventSeq }) => records.get(eventSeq)?.kind.startsWith('session.thread_'));
    const agentName = needsName ? await this.#agentName(row) : '';
    return renderPlaced(placed, records, agentName).map(({ cursor, event }) => ({ cursor, event }));
  }

  async #agentName(row: StreamRow): Promise<string> {
    const known = this.#agentNames.get(row.streamId);
    if (known !== undefined) return known;
    const [created] = await this.#reader.pick(row, [1 as Seq]);
    const name = created?.kind === 'session.created' ? created.payload.agent.name : '';
    this.#agentNames.set(row.streamId, name);
    return name;
  }
}

/** The place behind every delivery of the records up to `seq`, and never before `after`. */
export function behind(seq: Seq, after: EventCursor): EventCursor {
  return seq >= after.seq ? { seq: (seq + 1) as Seq, n: 0 } : after;
}
