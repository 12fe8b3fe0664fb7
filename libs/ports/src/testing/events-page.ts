import type { SessionEvent } from '@manyhands/protocol';
import type { Delivery, EventsPage } from '../session-log.ts';

/** The events of a page again, each with its place. */
export function deliveriesOf(page: EventsPage | null): Delivery[] {
  const events = page ? (JSON.parse(new TextDecoder().decode(page.json)) as SessionEvent[]) : [];
  return (page?.positions ?? []).map(({ cursor }, i) => ({ cursor, event: events[i] as SessionEvent }));
}
