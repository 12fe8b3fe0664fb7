/**
 * The deliveries of one stream, until it is asked to finish: then what is committed by that time, and the end.
 *
 * Nobody can tell from outside whether a stream has shown everything: a session's last records may be internal ones,
 * which are never delivered. So the log is followed anew behind the last delivery; it says by itself when its follower
 * has caught up, and its answer stands behind the barrier (L11), so nothing that was committed before is missing.
 */
import type { Delivery, EventCursor, SessionService } from '@manyhands/ports';

export type Followed = NonNullable<Awaited<ReturnType<SessionService['follow']>>>;

export interface Following {
  follow: (after: EventCursor | 'head', signal: AbortSignal) => Promise<Followed | null>;
  /** Aborted when the stream is over. */
  ended: AbortSignal;
  /** Aborted when the stream shall finish. */
  asked: AbortSignal;
}

/** Resolves when the position is taken; null when there is no such session. */
export async function followUntilAsked(start: EventCursor | 'head', following: Following): Promise<Followed | null> {
  const { ended, asked } = following;
  const followed = await following.follow(start, AbortSignal.any([ended, asked]));
  return followed && { ...followed, deliveries: deliveries(followed, following) };
}

async function* deliveries(first: Followed, following: Following): AsyncIterable<readonly Delivery[]> {
  let last = first.at;
  for await (const batch of first.deliveries) {
    last = batch.at(-1)?.cursor ?? last;
    yield batch;
  }
  if (following.asked.aborted && !following.ended.aborted) yield* committedAfter(last, following);
}

async function* committedAfter(last: EventCursor, { follow, ended }: Following): AsyncIterable<readonly Delivery[]> {
  const followed = await follow(last, ended);
  for await (const batch of followed?.deliveries ?? []) {
    if (batch.length === 0) return;
    yield batch;
  }
}
