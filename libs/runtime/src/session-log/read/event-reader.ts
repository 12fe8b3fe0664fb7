/**
 * Reads pages of a session's public order. An event's place is (seq, n): the record that delivers it, and the how-manieth
 * of that record's events it is.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventCursor, TimeFilter } from '@manyhands/ports';
import type { FoldRecord, Instant, Seq } from '@manyhands/protocol';
import { recordPosition, seqOfPosition, Visibility } from '../copy/copy-schema.ts';
import type { EventsAnswer, EventsQuery, OpenedRecord, PlacedEvent } from './read-request.ts';
import { PageBudget, type RecordReader } from './record-reader.ts';

interface PlacingRow {
  position: number;
  kind: string;
  time: Instant;
  visibility: Visibility;
  facets: string;
}

export class EventReader {
  readonly #records: RecordReader;
  readonly #asc: StatementSync;
  readonly #desc: StatementSync;

  constructor(db: DatabaseSync, records: RecordReader) {
    this.#records = records;
    const select = `SELECT position, kind, time, visibility, facets FROM records
      WHERE position >= ? AND position <= ? AND visibility <> 0 ORDER BY position`;
    this.#asc = db.prepare(`${select} ASC`);
    this.#desc = db.prepare(`${select} DESC`);
  }

  events(request: EventsQuery): EventsAnswer {
    const found = this.#find(request);
    const hasMore = found.length > request.limit;
    const placed = hasMore ? found.slice(0, request.limit) : found;
    const waiting = this.#waiting(request, hasMore);
    return this.#open(request, request.order === 'asc' ? [...placed, ...waiting] : [...waiting, ...placed], hasMore);
  }

  /** One event more than the page holds, if there is one. */
  #find(request: EventsQuery): PlacedEvent[] {
    const { stream, upTo, after, order, limit } = request;
    const first = order === 'asc' ? (after?.seq ?? 0) : 0;
    const last = order === 'desc' && after ? Math.min(after.seq, upTo) : upTo;
    const statement = order === 'asc' ? this.#asc : this.#desc;
    const found: PlacedEvent[] = [];
    for (const row of statement.iterate(recordPosition(stream, first), recordPosition(stream, last))) {
      const events = this.#eventsOf(row as unknown as PlacingRow, request);
      if (order === 'desc') events.reverse();
      found.push(...events.filter(({ cursor }) => !after || isBehind(cursor, after, order)));
      if (found.length > limit) return found.slice(0, limit + 1);
    }
    return found;
  }

  #eventsOf(row: PlacingRow, request: EventsQuery): PlacedEvent[] {
    const seq = seqOfPosition(row.position) as Seq;
    if (row.visibility === Visibility.waiting) {
      if (request.of === 'places' || !isWanted(row.kind, request)) return [];
      return [{ cursor: { seq, n: 1 }, eventSeq: seq, processedAt: null }];
    }
    if (!isWithin(row.time, request.createdAt)) return [];
    if (row.visibility === Visibility.placed) {
      return isWanted(row.kind, request) ? [{ cursor: { seq, n: 1 }, eventSeq: seq, processedAt: row.time }] : [];
    }
    const { seqs } = JSON.parse(row.facets) as { seqs: Seq[] };
    const events = seqs.map((eventSeq, i) => ({ cursor: { seq, n: i + 1 }, eventSeq, processedAt: row.time }));
    return request.types === null
      ? events
      : events.filter(({ eventSeq }) => isWanted(this.#kindOf(request.stream, eventSeq), request));
  }

  /** They stand behind the last placed event, so only on the page that reaches it. */
  #waiting(request: EventsQuery, hasMore: boolean): PlacedEvent[] {
    const reachesEnd = request.order === 'asc' ? !hasMore : request.after === null;
    if (!reachesEnd || hasBounds(request.createdAt)) return [];
    const wanted = request.waiting.filter(
      (seq) => request.types === null || isWanted(this.#kindOf(request.stream, seq), request),
    );
    const events = wanted.map((seq) => ({ cursor: { seq, n: 1 }, eventSeq: seq, processedAt: null }));
    return request.order === 'asc' ? events : events.reverse();
  }

  #open(request: EventsQuery, events: PlacedEvent[], hasMore: boolean): EventsAnswer {
    const budget = new PageBudget(request.maxBytes);
    const records = new Map<Seq, OpenedRecord>();
    for (const [i, { eventSeq }] of events.entries()) {
      // The first event comes with all it refers to, or a page could hold nothing and its reader ask for ever.
      if (!this.#take(request, eventSeq, records, budget, i === 0)) {
        return { events: events.slice(0, i), hasMore: true, records: [...records.values()] };
      }
    }
    return { events, hasMore, records: [...records.values()] };
  }

  #take(
    request: EventsQuery,
    seq: Seq,
    records: Map<Seq, OpenedRecord>,
    budget: PageBudget,
    isFirst: boolean,
  ): boolean {
    if (records.has(seq)) return true;
    const row = this.#records.row(request.stream, seq);
    const opened = this.#records.one(request, seq);
    if (!row || !opened) return true;
    if (!budget.takes(opened, row.payload) && !isFirst) return false;
    records.set(seq, opened);
    return referencesOf(opened.record).every((other) => this.#take(request, other, records, budget, isFirst));
  }

  #kindOf(stream: number, seq: Seq): string {
    return this.#records.row(stream, seq)?.kind ?? '';
  }
}

/** Records whose contents an event shows besides its own. */
export function referencesOf(record: FoldRecord): Seq[] {
  switch (record.kind) {
    case 'agent.message':
    case 'agent.tool_use':
    case 'agent.custom_tool_use':
      return [record.facets.responseSeq];
    case 'agent.tool_result':
      return record.facets.confirmationSeq === undefined ? [] : [record.facets.confirmationSeq];
    default:
      return [];
  }
}

function isWanted(kind: string, request: EventsQuery): boolean {
  return request.types === null || request.types.includes(kind);
}

function isBehind(cursor: EventCursor, after: EventCursor, order: 'asc' | 'desc'): boolean {
  const difference = cursor.seq === after.seq ? cursor.n - after.n : cursor.seq - after.seq;
  return order === 'asc' ? difference > 0 : difference < 0;
}

function isWithin(time: Instant, { gt, gte, lt, lte }: TimeFilter): boolean {
  return (
    (gt === undefined || time > gt) &&
    (gte === undefined || time >= gte) &&
    (lt === undefined || time < lt) &&
    (lte === undefined || time <= lte)
  );
}

function hasBounds({ gt, gte, lt, lte }: TimeFilter): boolean {
  return [gt, gte, lt, lte].some((bound) => bound !== undefined);
}
