/**
 * The live side of one model request: allocates the ids of the events to come before their text streams, publishes text
 * as it arrives, and remembers which id each block got so that the events are written under the ids that were shown.
 */
import type { LiveBus, ModelProgress } from '@manyhands/ports';
import type { Epoch, EventId, SessionId, TokenUsage } from '@manyhands/protocol';

export class Previews {
  /** Block index → event id; a run of text blocks shares the id of its first. */
  readonly eventIds = new Map<number, EventId>();
  /** The best figures so far, for a stream that is cut. */
  usage: TokenUsage | null = null;
  readonly #publish: (delta: Parameters<LiveBus['publish']>[1]) => void;
  readonly #newId: () => EventId;
  readonly #epoch: Epoch;
  #run: { id: EventId; first: number; last: number } | null = null;

  constructor(bus: LiveBus, sessionId: SessionId, epoch: Epoch, newId: () => EventId) {
    this.#publish = (delta) => bus.publish(sessionId, delta);
    this.#epoch = epoch;
    this.#newId = newId;
  }

  follow(progress: ModelProgress): void {
    if (progress.type === 'usage') this.usage = progress.usage;
    else if (progress.type === 'block_start') this.#begin(progress.index, progress.blockType);
    else if (this.#run) {
      const { id: eventId, first } = this.#run;
      const { text } = progress;
      this.#publish({ type: 'text', eventId, index: progress.index - first, text, epoch: this.#epoch });
    }
  }

  end(): void {
    this.#publish({ type: 'end', epoch: this.#epoch });
  }

  #begin(index: number, blockType: string): void {
    if (blockType === 'text' && this.#run?.last === index - 1) {
      this.#run.last = index;
      return;
    }
    this.#run = null;
    if (blockType === 'text') this.#run = { id: this.#start(index, 'agent.message'), first: index, last: index };
    else if (blockType === 'thinking' || blockType === 'redacted_thinking') this.#start(index, 'agent.thinking');
  }

  #start(index: number, eventType: 'agent.message' | 'agent.thinking'): EventId {
    const id = this.#newId();
    this.eventIds.set(index, id);
    this.#publish({ type: 'start', eventId: id, eventType, epoch: this.#epoch });
    return id;
  }
}
