/**
 * One open event stream: takes deliveries from the log and previews from the live bus, and writes both.
 *
 * - The log is asked for more only when the client has taken what it got: a slow reader costs one batch of memory.
 *   Previews are dropped for it.
 * - The grace mark is lifted before the bytes leave, so no later stream of the same key begins before them.
 * - It ends after `session.deleted` or `session.status_terminated`, when the client leaves, or when the server drains,
 *   then after all that is committed. A stream opened on a terminated session stays open: what may still come is its
 *   deletion.
 */
import { SessionLogError, type Delivery, type LiveBus, type LiveDelta, type Logger } from '@manyhands/ports';
import { errorBody, type Seq, type SessionEvent } from '@manyhands/protocol';

import type { Preview, PreviewGate } from './preview-gate.ts';
import { errorFrame, eventFrame, pingFrame, previewFrame } from './sse-frames.ts';
import type { SseWriter } from './sse-writer.ts';
import type { StreamOwner } from './stream-start.ts';

/** Silence after which a ping is due. With the registry's beat of 5 s, pings come every 10 to 15 s. */
const quietMs = 10_000;
/** Characters written before the client's pace is asked for. */
const portionLength = 64 * 1024;

export interface EventStreamParts {
  owner: StreamOwner;
  requestId: string;
  writer: SseWriter;
  gate: PreviewGate;
  liveBus: LiveBus;
  logger: Logger;
  /** Asks for the end of its deliveries, after what is committed. */
  finish: AbortController;
  /** Aborted when the stream is over, whoever ended it. */
  ended: AbortSignal;
}

export class EventStream {
  readonly owner: StreamOwner;
  readonly #parts: EventStreamParts;
  #sentSeq = 0 as Seq;

  constructor(parts: EventStreamParts) {
    this.#parts = parts;
    this.owner = parts.owner;
  }

  /** Everything up to this seq was sent, or is about to be. */
  get sentSeq(): Seq {
    return this.#sentSeq;
  }

  /** Runs until the response is closed. */
  async run(deliveries: AsyncIterable<readonly Delivery[]>): Promise<void> {
    const { liveBus, owner, writer, ended } = this.#parts;
    let unsubscribe = () => {};
    try {
      unsubscribe = liveBus.subscribe(owner.sessionId, (delta) => this.#onDelta(delta));
      await this.#deliverAll(deliveries);
    } catch (error) {
      this.#report(error);
    } finally {
      unsubscribe();
    }
    writer.end();
    await aborted(ended);
  }

  /** Delivers what is committed, and ends by itself. */
  finish(): void {
    this.#parts.finish.abort();
  }

  /** Ends it at once: whole messages only, then the end of the response. */
  end(): void {
    this.#parts.writer.end();
  }

  /** Keeps a quiet connection alive. */
  beat(nowMs: number): void {
    const { writer } = this.#parts;
    if (!writer.isFull && nowMs - writer.lastWriteMs >= quietMs) writer.write(pingFrame);
  }

  /** Whether it ended because its client read nothing. */
  get wasCut(): boolean {
    return this.#parts.writer.wasCut;
  }

  async #deliverAll(deliveries: AsyncIterable<readonly Delivery[]>): Promise<void> {
    const { gate, writer } = this.#parts;
    for await (const batch of deliveries) {
      if (batch.length === 0) writer.write(framesOf(gate.onCaughtUp(!writer.isFull)));
      else await this.#deliver(batch);
      if (writer.isClosed || batch.some(({ event }) => isLast(event))) return;
    }
  }

  async #deliver(batch: readonly Delivery[]): Promise<void> {
    const { liveBus, owner, gate, writer } = this.#parts;
    this.#sentSeq = batch.at(-1)?.cursor.seq ?? this.#sentSeq;
    await liveBus.raiseGrace(owner.sessionId, owner.apiKeyId, this.#sentSeq);
    let portion = '';
    for (const delivery of batch) {
      portion += eventFrame(delivery) + framesOf(gate.onDelivery(delivery.event, !writer.isFull));
      if (portion.length < portionLength) continue;
      writer.write(portion);
      portion = '';
      await writer.drained();
      if (writer.isClosed) return;
    }
    writer.write(portion);
    await writer.drained();
  }

  #onDelta(delta: LiveDelta): void {
    const { gate, writer } = this.#parts;
    const previews = gate.onDelta(delta, !writer.isFull);
    if (previews.length > 0) writer.writeSoon(framesOf(previews));
  }

  /** A log that is away just ends the stream: clients reconnect. What no reconnect heals is told. */
  #report(error: unknown): void {
    const { writer, requestId, logger, owner } = this.#parts;
    if (writer.isClosed) return;
    if (error instanceof SessionLogError && (error.code === 'unavailable' || error.code === 'closed')) return;
    logger.error({ error, requestId, sessionId: owner.sessionId }, 'an event stream failed');
    const message = error instanceof SessionLogError ? error.message : 'The event stream failed.';
    writer.write(errorFrame(errorBody('internal_error', message, requestId)));
  }
}

function framesOf(previews: readonly Preview[]): string {
  return previews.map(previewFrame).join('');
}

function isLast(event: SessionEvent): boolean {
  return event.type === 'session.deleted' || event.type === 'session.status_terminated';
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
