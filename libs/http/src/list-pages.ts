/** From what the log listed to a page as clients read it. */
import type { Delivery, Listed } from '@manyhands/ports';
import type { BidirectionalPage, Instant, Page, SessionEvent } from '@manyhands/protocol';

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

export function eventPage(
  { deliveries, hasMore }: { deliveries: readonly Delivery[]; hasMore: boolean },
  order: Order,
): Page<SessionEvent> {
  const last = deliveries.at(-1);
  return {
    data: deliveries.map((delivery) => delivery.event),
    next_page: last && hasMore ? encodeEventCursor(order, last.cursor, processedAt(last.event)) : null,
  };
}

function processedAt(event: SessionEvent): Instant | null {
  return event.processed_at == null ? null : (Date.parse(event.processed_at) as Instant);
}
