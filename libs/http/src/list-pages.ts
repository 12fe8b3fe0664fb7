/** From what the log listed to a page as clients read it. */
import { Readable } from 'node:stream';
import type { EventsPage, Listed } from '@manyhands/ports';
import type { BidirectionalPage, Page } from '@manyhands/protocol';
import type { FastifyReply } from 'fastify';

import { encodeEventCursor, encodeResourceCursor, type ResourceList, type ResourcePosition } from './cursors.ts';

type Order = 'asc' | 'desc';

export function resourcePage<T>(listed: Listed<T>, list: ResourceList, order: Order): Page<T> {
  const last = listed.items.at(-1);
  return {
    data: listed.items.map((item) => item.value),
    next_page: last && listed.hasMore ? encodeResourceCursor(list, order, { at: last.cursor, backwards: false }) : null,
  };
}

/**
 * A page reached backwards has a next one, the page it was reached from; whether one lies before it is what the log
 * found. For a page reached forwards it is the other way round.
 */
export function bidirectionalPage<T>(
  listed: Listed<T>,
  list: ResourceList,
  order: Order,
  position: ResourcePosition | null,
): BidirectionalPage<T> {
  const [first, last] = [listed.items.at(0), listed.items.at(-1)];
  const backwards = position?.backwards === true;
  const hasNext = backwards || listed.hasMore;
  const hasPrevious = backwards ? listed.hasMore : position !== null;
  return {
    data: listed.items.map((item) => item.value),
    next_page: last && hasNext ? encodeResourceCursor(list, order, { at: last.cursor, backwards: false }) : null,
    prev_page: first && hasPrevious ? encodeResourceCursor(list, order, { at: first.cursor, backwards: true }) : null,
  };
}

/** The page's own bytes, with what a page has around them; nothing of it is copied. */
export function sendEventPage(reply: FastifyReply, { json, positions, hasMore }: EventsPage, order: Order): void {
  const last = positions.at(-1);
  const nextPage = last && hasMore ? encodeEventCursor(order, last.cursor, last.processedAt) : null;
  const parts = [Buffer.from('{"data":'), json, Buffer.from(`,"next_page":${JSON.stringify(nextPage)}}`)];
  // Megabytes that only a collection would free bring collections on, several a second with clients that page.
  reply.raw.once('close', () => (json.buffer as ArrayBuffer).transfer(0));
  void reply
    .header('content-type', 'application/json; charset=utf-8')
    .header(
      'content-length',
      parts.reduce((sum, { length }) => sum + length, 0),
    )
    .send(Readable.from(parts, { objectMode: false }));
}
