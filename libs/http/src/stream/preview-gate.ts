/**
 * Which previews one connection may see, and when. Deltas come from the live bus, deliveries from the log; they race.
 *
 * - An event is announced (`event_start`) at most once; its deltas are what the bus gave, from the first on without a gap.
 * - Nothing about an event goes out after the event itself: the whole event is the last message for its id.
 * - A request's previews begin after its `span.model_request_start` and end at its `span.model_request_end`; what comes
 *   earlier waits. SDKs forget unfinished previews at a span's end and throw at a delta without a start.
 * - A stream that resumes sees no preview before it has caught up: spans of its history are not the present ones.
 * - Deltas of an epoch older than one seen are a zombie's (L3) and are dropped.
 * - When the connection cannot take a delta, its event gets no further one.
 */
import type { LiveDelta } from '@manyhands/ports';
import type { DeltaEvent, Epoch, EventId, PreviewableEventType, SessionEvent, StartEvent } from '@manyhands/protocol';

export type Preview = StartEvent | DeltaEvent;
type ContentDelta = Exclude<LiveDelta, { type: 'end' }>;

/** Deltas wait for a record that is already in the log, so few ever do; beyond this many they are given up. */
const maxHeld = 1000;
/** How many finished events are remembered against late deltas. */
const maxFinished = 64;

export class PreviewGate {
  readonly #wanted: ReadonlySet<PreviewableEventType>;
  #epoch: Epoch;
  #caughtUp = false;
  /** The last span seen has not ended. Before the first one, a request may well be open. */
  #requestOpen = true;
  #held: ContentDelta[] = [];
  readonly #announced = new Set<EventId>();
  readonly #finished = new Set<EventId>();

  constructor(wanted: ReadonlySet<PreviewableEventType>, epoch: Epoch) {
    this.#wanted = wanted;
    this.#epoch = epoch;
  }

  /** What goes out now. `hasRoom`: the connection can take more. */
  onDelta(delta: LiveDelta, hasRoom: boolean): Preview[] {
    if (delta.epoch < this.#epoch) return [];
    if (delta.epoch > this.#epoch) this.#endRequest();
    this.#epoch = delta.epoch;
    if (delta.type === 'end') {
      this.#endRequest();
      return [];
    }
    if (this.#caughtUp && this.#requestOpen) return this.#pass(delta, hasRoom);
    if (this.#held.length < maxHeld) this.#held.push(delta);
    else this.#giveUpHeld();
    return [];
  }

  /** Called as the event is written; what it gives goes out right after the event. */
  onDelivery(event: SessionEvent, hasRoom: boolean): Preview[] {
    switch (event.type) {
      case 'agent.message':
      case 'agent.thinking':
        this.#finish(event.id as EventId);
        return [];
      case 'span.model_request_start':
        this.#requestOpen = true;
        return this.#release(hasRoom);
      case 'span.model_request_end':
        this.#requestOpen = false;
        this.#finishAnnounced();
        return [];
      default:
        return [];
    }
  }

  /** The history is through. */
  onCaughtUp(hasRoom: boolean): Preview[] {
    this.#caughtUp = true;
    return this.#release(hasRoom);
  }

  #release(hasRoom: boolean): Preview[] {
    if (!this.#caughtUp || !this.#requestOpen) return [];
    const held = this.#held;
    this.#held = [];
    return held.flatMap((delta) => this.#pass(delta, hasRoom));
  }

  #pass(delta: ContentDelta, hasRoom: boolean): Preview[] {
    if (delta.type === 'start') return this.#announce(delta.eventId, delta.eventType, hasRoom);
    if (!this.#announced.has(delta.eventId)) return [];
    if (hasRoom) return [textDelta(delta.eventId, delta.index, delta.text)];
    this.#finish(delta.eventId);
    return [];
  }

  #announce(id: EventId, type: PreviewableEventType, hasRoom: boolean): Preview[] {
    if (!this.#wanted.has(type) || this.#announced.has(id) || this.#finished.has(id)) return [];
    if (!hasRoom) {
      this.#finish(id);
      return [];
    }
    this.#announced.add(id);
    return [{ type: 'event_start', event: { type, id } }];
  }

  #endRequest(): void {
    this.#giveUpHeld();
    this.#finishAnnounced();
  }

  #giveUpHeld(): void {
    for (const delta of this.#held) if (delta.type === 'start') this.#finish(delta.eventId);
    this.#held = [];
  }

  #finishAnnounced(): void {
    for (const id of this.#announced) this.#finish(id);
  }

  #finish(id: EventId): void {
    this.#announced.delete(id);
    this.#finished.add(id);
    if (this.#finished.size <= maxFinished) return;
    for (const oldest of this.#finished) {
      this.#finished.delete(oldest);
      return;
    }
  }
}

function textDelta(id: EventId, index: number, text: string): DeltaEvent {
  return {
    type: 'event_delta',
    event_id: id,
    delta: { type: 'content_delta', index, content: { type: 'text', text } },
  };
}
