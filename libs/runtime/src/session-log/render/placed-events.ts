import type { EventPosition } from '@manyhands/ports';
import type { LogRecord, Seq, SessionEvent } from '@manyhands/protocol';
import type { PlacedEvent } from '../read/read-request.ts';
import { renderEvent } from './session-event.ts';

/** Events at their places, from the records that a read brought; what is no event of this build is left out. */
export function renderPlaced(
  placed: readonly PlacedEvent[],
  records: ReadonlyMap<Seq, LogRecord>,
  agentName: string,
): (EventPosition & { event: SessionEvent })[] {
  const record = (seq: Seq): LogRecord | null => records.get(seq) ?? null;
  return placed.flatMap(({ cursor, eventSeq, processedAt }) => {
    const own = record(eventSeq);
    const event = own && renderEvent(own, { processedAt, agentName, record });
    return event ? [{ cursor, processedAt, event }] : [];
  });
}
