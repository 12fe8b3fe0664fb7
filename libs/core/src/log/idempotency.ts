/** What an `Idempotency-Key` means for a command: only commands that wrote something are remembered. */
import type { IdempotencyMark, Instant, Refusal, Seq } from '@manyhands/protocol';

/** A command that came with the same key before. */
export interface RememberedCommand {
  body: string;
  firstSeq: Seq;
  lastSeq: Seq;
  time: Instant;
}

export type Repetition =
  { kind: 'new' } | { kind: 'repeated'; firstSeq: Seq; lastSeq: Seq } | { kind: 'refuse'; refusal: Refusal };

/** How long a key answers for events and updates; for creates it never ends. */
export const idempotencyMs = 24 * 60 * 60 * 1000;

export function checkRepetition(
  mark: IdempotencyMark | null,
  remembered: RememberedCommand | null,
  isCreate: boolean,
  now: Instant,
): Repetition {
  if (!mark || !remembered) return { kind: 'new' };
  if (!isCreate && now - remembered.time > idempotencyMs) return { kind: 'new' };
  if (mark.body === remembered.body) {
    return { kind: 'repeated', firstSeq: remembered.firstSeq, lastSeq: remembered.lastSeq };
  }
  const message = 'This Idempotency-Key was used before with another request body.';
  return { kind: 'refuse', refusal: { code: 'idempotency_key_reused', message } };
}
