/** What the holder of a session must do now: a pure function of the state. */
import type { EventId, Instant, SessionDraft } from '@manyhands/protocol';
import type { OpenRequest, SessionState, ToolCall } from '../session/state.ts';
import { turnOf } from '../session/evolve.ts';
import { Plan } from '../session/plan.ts';
import type { Knowledge } from './advance.ts';
import { advance } from './advance.ts';
import { runnableCalls } from './calls.ts';
import type { TurnLimits } from './limits.ts';

export type Action =
  { kind: 'call-model'; key: EventId; request: OpenRequest } | { kind: 'execute-tool'; key: EventId; call: ToolCall };

export type Step =
  /** The log lacks these records; append them and look again. */
  | { kind: 'append'; records: readonly SessionDraft[]; state: SessionState }
  /** These actions should be running, and no others. */
  | { kind: 'act'; actions: readonly Action[] }
  /** The lease is released, or nothing is left to do. */
  | { kind: 'finish' };

export function nextStep(
  state: SessionState,
  limits: TurnLimits,
  now: Instant,
  newId: () => EventId,
  knowledge: Knowledge = {},
): Step {
  if (!state.lease || state.phase.status !== 'running') return { kind: 'finish' };
  const plan = new Plan(state, now, newId);
  advance(plan, limits, knowledge);
  if (plan.records.length > 0) return { kind: 'append', records: plan.records, state: plan.state };
  return { kind: 'act', actions: actionsOf(state) };
}

export function actionsOf(state: SessionState): Action[] {
  const turn = turnOf(state.phase);
  if (!turn || state.phase.status !== 'running') return [];
  if (turn.request) return [{ kind: 'call-model', key: turn.request.startId, request: turn.request }];
  return runnableCalls(turn).map((call) => ({ kind: 'execute-tool', key: call.eventId, call }));
}
