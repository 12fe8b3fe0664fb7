import { silentLogger } from '@manyhands/ports';
import type { Clock, LiveBus, LiveDelta, Logger } from '@manyhands/ports';
import type { Seq, SessionId } from '@manyhands/protocol';
import { GraceMarks } from './grace-marks.ts';
import { PreviewBuffers, previewLimits } from './preview-buffers.ts';
import type { PreviewLimits } from './preview-buffers.ts';
import { Subscriber } from './subscriber.ts';

export interface EmbeddedLiveBusOptions {
  clock: Pick<Clock, 'now' | 'monotonicMs'>;
  logger?: Logger;
  limits?: PreviewLimits;
}

/** The live bus of one process. Deltas of an epoch older than the last one seen of their session are dropped. */
export class EmbeddedLiveBus implements LiveBus {
  readonly #logger: Logger;
  readonly #previews: PreviewBuffers;
  readonly #marks: GraceMarks;
  readonly #subscribers = new Map<SessionId, Set<Subscriber>>();

  constructor({ clock, logger = silentLogger, limits = previewLimits }: EmbeddedLiveBusOptions) {
    this.#logger = logger;
    this.#previews = new PreviewBuffers(clock, limits);
    this.#marks = new GraceMarks(clock);
  }

  publish(sessionId: SessionId, delta: LiveDelta): void {
    if (!this.#previews.accept(sessionId, delta)) return;
    for (const subscriber of this.#subscribers.get(sessionId) ?? []) subscriber.offer(delta);
  }

  subscribe(sessionId: SessionId, listener: (delta: LiveDelta) => void): () => void {
    const unsubscribe = () => this.#remove(sessionId, subscriber);
    const subscriber = new Subscriber(listener, (error) => {
      this.#logger.warn({ sessionId, err: error }, 'a listener of previews failed and is dropped');
      unsubscribe();
    });
    const others = this.#subscribers.get(sessionId) ?? new Set();
    this.#subscribers.set(sessionId, others.add(subscriber));
    for (const delta of this.#previews.resume(sessionId)) subscriber.offer(delta);
    return unsubscribe;
  }

  async placeGrace(sessionId: SessionId, apiKeyId: string, seq: Seq): Promise<void> {
    this.#marks.place(sessionId, apiKeyId, seq);
  }

  async readGrace(sessionId: SessionId, apiKeyId: string): Promise<{ seq: Seq; placedAt: number } | null> {
    const mark = this.#marks.read(sessionId, apiKeyId);
    return mark && { seq: mark.seq, placedAt: mark.placedAt };
  }

  async raiseGrace(sessionId: SessionId, apiKeyId: string, seq: Seq): Promise<void> {
    this.#marks.raise(sessionId, apiKeyId, seq);
  }

  /** Forgets everything of a session that is being erased. */
  clear(sessionId: SessionId): void {
    this.#previews.clear(sessionId);
    this.#marks.clear(sessionId);
    for (const subscriber of this.#subscribers.get(sessionId) ?? []) subscriber.clear();
  }

  #remove(sessionId: SessionId, subscriber: Subscriber): void {
    subscriber.clear();
    const subscribers = this.#subscribers.get(sessionId);
    subscribers?.delete(subscriber);
    if (subscribers?.size === 0) this.#subscribers.delete(sessionId);
  }
}
