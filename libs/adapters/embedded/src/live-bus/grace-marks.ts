import type { Clock } from '@manyhands/ports';
import type { Seq, SessionId } from '@manyhands/protocol';

const lifetimeMs = 10_000;
/** The client events of one quick turn; the mark of an earlier turn must not hold the next one back. */
const sameTurnMs = 2_000;

interface Mark {
  sessionId: SessionId;
  seq: Seq;
  placedAt: number;
  placedMs: number;
}

/** From where a stream that opens just after client events starts. The contract is `LiveBus`'s. */
export class GraceMarks {
  readonly #clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Longest standing first. */
  readonly #marks = new Map<string, Mark>();

  constructor(clock: Pick<Clock, 'now' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  place(sessionId: SessionId, apiKeyId: string, seq: Seq): void {
    const key = keyOf(sessionId, apiKeyId);
    const standing = this.read(sessionId, apiKeyId);
    const placedMs = this.#clock.monotonicMs();
    const kept = standing && (placedMs - standing.placedMs <= sameTurnMs || standing.seq > seq);
    this.#marks.delete(key);
    this.#marks.set(key, { sessionId, seq: kept ? standing.seq : seq, placedAt: this.#clock.now(), placedMs });
  }

  read(sessionId: SessionId, apiKeyId: string): Readonly<Mark> | null {
    this.#forgetExpired();
    return this.#marks.get(keyOf(sessionId, apiKeyId)) ?? null;
  }

  raise(sessionId: SessionId, apiKeyId: string, seq: Seq): void {
    this.#forgetExpired();
    const mark = this.#marks.get(keyOf(sessionId, apiKeyId));
    if (mark && mark.seq < seq) mark.seq = seq;
  }

  clear(sessionId: SessionId): void {
    for (const [key, mark] of this.#marks) if (mark.sessionId === sessionId) this.#marks.delete(key);
  }

  #forgetExpired(): void {
    const bornBefore = this.#clock.monotonicMs() - lifetimeMs;
    for (const [key, mark] of this.#marks) {
      if (mark.placedMs > bornBefore) return;
      this.#marks.delete(key);
    }
  }
}

function keyOf(sessionId: SessionId, apiKeyId: string): string {
  return `${sessionId} ${apiKeyId}`;
}
