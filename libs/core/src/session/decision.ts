/** What a command comes to: records to write, none of them when there is nothing to do, or a refusal. */
import type { EventId, Instant, Refusal, SessionDraft } from '@manyhands/protocol';

export type Decision = { kind: 'write'; records: readonly SessionDraft[] } | { kind: 'refuse'; refusal: Refusal };

export interface DecideContext {
  now: Instant;
  newId: () => EventId;
}

export function refuse(code: Refusal['code'], message: string): Decision {
  return { kind: 'refuse', refusal: { code, message } };
}
