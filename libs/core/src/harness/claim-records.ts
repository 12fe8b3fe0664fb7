/**
 * H1, H2, H6. The commit by which a worker takes a session: the lease, the end of a dead holder's model request, and the
 * opening of the next step; or, for a session that brought down too many workers, the end of its turn.
 */
import type { EventId, Incarnation, Instant } from '@manyhands/protocol';
import type { SessionState } from '../session/state.ts';
import { Plan } from '../session/plan.ts';
import { addExhausted, addRunning, closeRequest } from '../session/turn-end.ts';
import { advance } from './advance.ts';
import type { TakeoverLimits, TurnLimits } from './limits.ts';

export function claimRecords(
  state: SessionState,
  incarnation: Incarnation,
  limits: TurnLimits,
  now: Instant,
  newId: () => EventId,
): Plan {
  const givesUp = state.lease !== null && state.barrenTakeovers + 1 >= limits.takeover.giveUpAt;
  const plan = new Plan(state, now, newId);
  plan.add('lease.taken', { incarnation }, null);
  closeRequest(plan, null);
  if (plan.state.phase.status === 'rescheduling') addRunning(plan);
  if (givesUp) {
    addExhausted(plan, 'unknown_error', 'The session was given up after its workers ended again and again.');
    return plan;
  }
  advance(plan, limits);
  return plan;
}

/** A session's wish for the brain, or null when it has none. */
export interface Runnable {
  holder: Incarnation | null;
  notBefore: Instant;
  barrenTakeovers: number;
}

/** Whether and from when a session may be claimed. An interrupt does not wait for a retry. */
export function runnableOf(state: SessionState, takeover: TakeoverLimits): Runnable | null {
  if (state.deletedAt !== null) return null;
  const { phase } = state;
  if (phase.status !== 'running' && phase.status !== 'rescheduling') return null;
  const interrupted = state.queue.some((input) => input.kind === 'user.interrupt');
  const retryAt = phase.status === 'rescheduling' && !interrupted ? phase.retryAt : 0;
  return {
    holder: state.lease?.incarnation ?? null,
    notBefore: Math.max(retryAt, takeoverAt(state, takeover)) as Instant,
    barrenTakeovers: state.barrenTakeovers,
  };
}

function takeoverAt(state: SessionState, takeover: TakeoverLimits): number {
  if (!state.lease || state.barrenTakeovers === 0) return 0;
  return state.lease.takenAt + (state.barrenTakeovers === 1 ? takeover.secondWaitMs : takeover.laterWaitMs);
}
