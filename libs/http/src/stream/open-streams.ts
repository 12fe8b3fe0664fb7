/** Every open event stream of this process: how many there may be, their heartbeat, their end. */
import type { Clock, LiveBus } from '@manyhands/ports';
import type { Counter, Metrics } from '@manyhands/platform';
import type { Seq, SessionId } from '@manyhands/protocol';

import { ApiError } from '../api-error.ts';
import type { EventStream } from './event-stream.ts';
import type { StreamOwner } from './stream-start.ts';

/** One timer for all streams: thousands of them would otherwise wake the process one by one. */
const beatMs = 5_000;

export interface StreamLimits {
  /** Of this process. */
  maxOpenStreams: number;
  maxOpenStreamsPerKey: number;
  /** A client that takes nothing for so long is gone, and resumes with `Last-Event-ID`. Absent: a minute. */
  streamStallLimitMs?: number;
}

/** A stream's place; it must be left exactly once. */
export interface StreamPlace {
  /** From now on the stream takes part in heartbeats and drains. */
  hold(stream: EventStream): void;
  leave(): void;
}

export class OpenStreams {
  readonly #limits: StreamLimits;
  readonly #liveBus: LiveBus;
  readonly #clock: Clock;
  readonly #bySession = new Map<SessionId, Set<EventStream>>();
  readonly #countByKey = new Map<string, number>();
  readonly #cut: Counter;
  readonly #stopped = new AbortController();
  #count = 0;

  constructor(limits: StreamLimits, deps: { liveBus: LiveBus; clock: Clock; metrics: Metrics }) {
    this.#limits = limits;
    this.#liveBus = deps.liveBus;
    this.#clock = deps.clock;
    deps.metrics.gauge({ name: 'http_streams_open', help: 'Open event streams.' }, () => this.#count);
    this.#cut = deps.metrics.counter({ name: 'http_streams_cut_total', help: 'Streams cut because nobody read them.' });
    void this.#beatUntilStopped();
  }

  get count(): number {
    return this.#count;
  }

  /** Takes a place for a stream, or refuses with 429. */
  admit(apiKeyId: string): StreamPlace {
    const ofKey = this.#countByKey.get(apiKeyId) ?? 0;
    if (this.#stopped.signal.aborted) throw new ApiError('unavailable', 'The server is shutting down.');
    if (this.#count >= this.#limits.maxOpenStreams) throw tooMany('This server has');
    if (ofKey >= this.#limits.maxOpenStreamsPerKey) throw tooMany('This API key has');
    this.#count++;
    this.#countByKey.set(apiKeyId, ofKey + 1);
    return this.#place(apiKeyId);
  }

  /**
   * Called before client events are answered. Streams that were sent some of them already lift the mark again: theirs
   * came before there was a mark to lift.
   */
  async noteClientEvents({ sessionId, apiKeyId }: StreamOwner, firstSeq: Seq): Promise<void> {
    await this.#liveBus.placeGrace(sessionId, apiKeyId, (firstSeq - 1) as Seq);
    for (const stream of this.#bySession.get(sessionId) ?? []) {
      if (stream.owner.apiKeyId !== apiKeyId || stream.sentSeq < firstSeq) continue;
      await this.#liveBus.raiseGrace(sessionId, apiKeyId, stream.sentSeq);
    }
  }

  /** Admits no other stream, and lets every one end by itself after what is committed. */
  finishAll(): void {
    this.#stopped.abort();
    for (const stream of this.#all()) stream.finish();
  }

  /** Ends at once what has not finished: its client resumes with `Last-Event-ID`. */
  endAll(): void {
    for (const stream of this.#all()) stream.end();
  }

  #place(apiKeyId: string): StreamPlace {
    let held: EventStream | null = null;
    return {
      hold: (stream) => {
        held = stream;
        const { sessionId } = stream.owner;
        const ofSession = this.#bySession.get(sessionId) ?? new Set();
        this.#bySession.set(sessionId, ofSession.add(stream));
        if (this.#stopped.signal.aborted) stream.finish();
      },
      leave: () => {
        this.#count--;
        const ofKey = (this.#countByKey.get(apiKeyId) ?? 1) - 1;
        if (ofKey === 0) this.#countByKey.delete(apiKeyId);
        else this.#countByKey.set(apiKeyId, ofKey);
        if (held !== null) this.#forget(held);
      },
    };
  }

  #forget(stream: EventStream): void {
    if (stream.wasCut) this.#cut.inc();
    const ofSession = this.#bySession.get(stream.owner.sessionId);
    ofSession?.delete(stream);
    if (ofSession?.size === 0) this.#bySession.delete(stream.owner.sessionId);
  }

  *#all(): Iterable<EventStream> {
    for (const ofSession of this.#bySession.values()) yield* ofSession;
  }

  async #beatUntilStopped(): Promise<void> {
    const { signal } = this.#stopped;
    for (;;) {
      await this.#clock.sleep(beatMs, signal);
      if (signal.aborted) return;
      const nowMs = this.#clock.monotonicMs();
      for (const stream of this.#all()) stream.beat(nowMs);
    }
  }
}

function tooMany(who: string): ApiError {
  return new ApiError('rate_limited', `${who} too many open event streams. Close some and try again.`);
}
