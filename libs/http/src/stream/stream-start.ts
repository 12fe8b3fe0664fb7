/**
 * Where a new stream begins: after the client's `Last-Event-ID`, or at the grace mark, or now.
 *
 * Grace start: clients that send first and open their stream after it would miss what happened in between. The mark says
 * after which seq their last client events stand, or up to where a connection of the same key was sent; a stream opened
 * soon enough begins right after it. So "send, then open" misses nothing, and "open, then send" never sees again what an
 * earlier stream has shown.
 */
import type { Clock, EventCursor, LiveBus } from '@manyhands/ports';
import type { SessionId } from '@manyhands/protocol';

/** Long enough for the second request of a client that is far away; short enough that nobody polls meanwhile. */
const graceMs = 2000;

/** Beyond every delivery of a record. */
const afterAllDeliveries = Number.MAX_SAFE_INTEGER;

export interface StreamOwner {
  sessionId: SessionId;
  apiKeyId: string;
}

export async function streamStart(
  lastEventId: EventCursor | null,
  owner: StreamOwner,
  { liveBus, clock }: { liveBus: LiveBus; clock: Clock },
): Promise<EventCursor | 'head'> {
  if (lastEventId !== null) return lastEventId;
  const mark = await liveBus.readGrace(owner.sessionId, owner.apiKeyId);
  if (mark === null || clock.now() - mark.placedAt > graceMs) return 'head';
  return { seq: mark.seq, n: afterAllDeliveries };
}
