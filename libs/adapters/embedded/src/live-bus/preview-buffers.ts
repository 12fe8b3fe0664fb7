import type { Clock, LiveDelta } from '@manyhands/ports';
import type { Epoch, EventId, SessionId } from '@manyhands/protocol';

type Start = Extract<LiveDelta, { type: 'start' }>;
type Text = Extract<LiveDelta, { type: 'text' }>;

interface Preview {
  start: Start;
  /** Pieces of text by the index of their block. */
  texts: Map<number, string[]>;
  size: number;
}

interface SessionPreviews {
  epoch: Epoch;
  /** Unfinished events whose text is here from its beginning. */
  events: Map<EventId, Preview>;
  touchedMs: number;
}

export interface PreviewLimits {
  /** Characters kept for one session, for all, and how long after its last delta a session is remembered. */
  sessionCharacters: number;
  totalCharacters: number;
  ageMs: number;
}

export const previewLimits: PreviewLimits = {
  sessionCharacters: 2_000_000,
  totalCharacters: 32_000_000,
  ageMs: 300_000,
};

/**
 * What is buffered of unfinished events, within limits. An event that does not fit is forgotten whole: its later text
 * finds no start here, so nobody is ever handed a part of it.
 */
export class PreviewBuffers {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #limits: PreviewLimits;
  /** Least recently touched first. */
  readonly #sessions = new Map<SessionId, SessionPreviews>();
  #size = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, limits: PreviewLimits = previewLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Takes a delta in; false when it comes from an older epoch than one seen before, and nobody should see it. */
  accept(sessionId: SessionId, delta: LiveDelta): boolean {
    const session = this.#sessions.get(sessionId) ?? { epoch: delta.epoch, events: new Map(), touchedMs: 0 };
    if (delta.epoch < session.epoch) return false;
    if (delta.epoch > session.epoch) this.#forgetEvents(session);
    session.epoch = delta.epoch;
    this.#touch(sessionId, session);
    if (delta.type === 'start') this.#begin(session, delta);
    else if (delta.type === 'text') this.#add(session, delta);
    else this.#forgetEvents(session);
    this.#forgetOld();
    return true;
  }

  /** A start and the text so far of each unfinished event. */
  resume(sessionId: SessionId): LiveDelta[] {
    this.#forgetOld();
    return [...(this.#sessions.get(sessionId)?.events.values() ?? [])].flatMap(({ start, texts }) => {
      const { eventId, epoch } = start;
      const soFar = [...texts].sort(([a], [b]) => a - b);
      return [
        start,
        ...soFar.map(([index, parts]) => ({ type: 'text' as const, eventId, index, text: parts.join(''), epoch })),
      ];
    });
  }

  clear(sessionId: SessionId): void {
    const session = this.#sessions.get(sessionId);
    if (session) this.#forgetEvents(session);
    this.#sessions.delete(sessionId);
  }

  #touch(sessionId: SessionId, session: SessionPreviews): void {
    session.touchedMs = this.#clock.monotonicMs();
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
  }

  #begin(session: SessionPreviews, start: Start): void {
    this.#forget(session, start.eventId);
    session.events.set(start.eventId, { start, texts: new Map(), size: 0 });
  }

  #add(session: SessionPreviews, { eventId, index, text }: Text): void {
    const preview = session.events.get(eventId);
    if (!preview) return;
    const parts = preview.texts.get(index);
    if (parts) parts.push(text);
    else preview.texts.set(index, [text]);
    preview.size += text.length;
    this.#size += text.length;
    if (sizeOf(session) > this.#limits.sessionCharacters) this.#forget(session, eventId);
  }

  #forgetOld(): void {
    const bornBefore = this.#clock.monotonicMs() - this.#limits.ageMs;
    for (const [sessionId, session] of this.#sessions) {
      if (session.touchedMs >= bornBefore && this.#size <= this.#limits.totalCharacters) return;
      this.clear(sessionId);
    }
  }

  #forgetEvents(session: SessionPreviews): void {
    for (const eventId of session.events.keys()) this.#forget(session, eventId);
  }

  #forget(session: SessionPreviews, eventId: EventId): void {
    this.#size -= session.events.get(eventId)?.size ?? 0;
    session.events.delete(eventId);
  }
}

function sizeOf(session: SessionPreviews): number {
  let size = 0;
  for (const preview of session.events.values()) size += preview.size;
  return size;
}
