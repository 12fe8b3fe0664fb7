/** What a command comes to: records to write, none of them when there is nothing to do, or a refusal. */
import type { EventId, Instant, Refusal, SessionDraft } from '@manyhands/protocol';
import type { SessionState } from './state.ts';

export type Decision = { kind: 'write'; records: readonly SessionDraft[] } | { kind: 'refuse'; refusal: Refusal };

export interface DecideContext {
  now: Instant;
  newId: () => EventId;
}

export function refuse(code: Refusal['code'], message: string): Decision {
  return { kind: 'refuse', refusal: { code, message } };
}

/** An archived session is terminated too; whoever archived it looks for that word. */
export function refuseEnded(state: SessionState, consequence: string): Decision | null {
  if (state.phase.status !== 'terminated') return null;
  const end = state.archivedAt === null ? 'terminated' : 'archived';
  return refuse('session_terminated', `The session is ${end} and ${consequence}.`);
}
