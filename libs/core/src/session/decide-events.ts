/** `SendEvents`: each event is decided on the state that the ones before it leave; one refusal refuses them all. */
import type { ClientEvent, EventId } from '@manyhands/protocol';
import type { SessionState, ToolCall } from './state.ts';
import { refuse, refuseEnded, type DecideContext, type Decision } from './decision.ts';
import { turnOf } from './evolve.ts';
import { Plan } from './plan.ts';
import { addIdle, addRunning, closeCalls } from './turn-end.ts';
import { awaitsClient, blockingIds } from '../harness/calls.ts';

/** Messages that may wait in one session; more are refused until a turn has taken some. */
export const maxQueuedMessages = 100;

type EventOf<T extends ClientEvent['type']> = Extract<ClientEvent, { type: T }>;

export function decideEvents(state: SessionState, events: readonly ClientEvent[], context: DecideContext): Decision {
  const ended = refuseEnded(state, 'accepts no events');
  if (ended) return ended;
  const plan = new Plan(state, context.now, context.newId);
  let previous: ClientEvent | null = null;
  for (const event of events) {
    const refusal = addEvent(plan, event, previous);
    if (refusal) return refusal;
    previous = event;
  }
  settleIdle(plan, blockingIds(state));
  return { kind: 'write', records: plan.records };
}

function addEvent(plan: Plan, event: ClientEvent, previous: ClientEvent | null): Decision | null {
  switch (event.type) {
    case 'user.message':
      return addMessage(plan, event);
    case 'system.message':
      return addSystemMessage(plan, event, previous);
    case 'user.interrupt':
      return addInterrupt(plan, event);
    case 'user.tool_confirmation':
      return addConfirmation(plan, event);
    case 'user.custom_tool_result':
      return addCustomResult(plan, event);
  }
}

function addMessage(plan: Plan, event: EventOf<'user.message'>): Decision | null {
  const refusal = refuseNewWork(plan.state, event.type) ?? refuseFullQueue(plan.state);
  if (refusal) return refusal;
  const { content } = event;
  plan.add('user.message', { placed: false, chars: charsOf(content) }, { content });
  return null;
}

function addSystemMessage(plan: Plan, event: EventOf<'system.message'>, previous: ClientEvent | null): Decision | null {
  const followsResult = previous?.type === 'user.custom_tool_result';
  const refusal = (followsResult ? null : refuseNewWork(plan.state, event.type)) ?? refuseFullQueue(plan.state);
  if (refusal) return refusal;
  const { content } = event;
  plan.add('system.message', { placed: false, chars: charsOf(content) }, { content });
  return null;
}

function refuseNewWork(state: SessionState, type: string): Decision | null {
  if (state.phase.status !== 'idle') return null;
  switch (state.phase.stopReason?.type) {
    case 'requires_action': {
      const ids = blockingIds(state);
      if (ids.length === 0) return null;
      return refuse(
        'action_required',
        `${type} is not accepted while the session waits for an action on: ${ids.join(', ')}. Answer these first, or send user.interrupt.`,
      );
    }
    case 'budget_reached':
      return refuse(
        'budget_reached',
        `The session's budget is reached: ${type} is not accepted. Only user.tool_confirmation, user.tool_result, user.custom_tool_result and user.interrupt are; raise or remove the budget to go on.`,
      );
    default:
      return null;
  }
}

function refuseFullQueue(state: SessionState): Decision | null {
  const waiting = state.queue.filter((input) => input.kind !== 'user.interrupt').length;
  if (waiting < maxQueuedMessages) return null;
  return refuse(
    'queue_full',
    `${maxQueuedMessages} messages already wait in this session; send more when a turn has taken them.`,
  );
}

/** Applied at once where nothing runs; else it waits for the holder, who applies it before everything queued. */
function addInterrupt(plan: Plan, event: EventOf<'user.interrupt'>): Decision | null {
  const { state } = plan;
  if (event.sessionThreadId !== null && event.sessionThreadId !== state.threadId) {
    return refuse('not_found', `No thread ${event.sessionThreadId} in this session.`);
  }
  const target = event.sessionThreadId === null ? {} : { sessionThreadId: event.sessionThreadId };
  if (state.phase.status !== 'idle') {
    plan.add('user.interrupt', { placed: false, ...target }, null);
    return null;
  }
  const stop = state.phase.stopReason?.type;
  if (stop === 'budget_reached') {
    plan.add('user.interrupt', { placed: true, ignored: true, ...target }, null);
    return null;
  }
  plan.add('user.interrupt', { placed: true, ...target }, null);
  if (stop === 'requires_action' && state.phase.turn) {
    closeCalls(plan, 'interrupted');
    addIdle(plan, { type: 'end_turn' });
  }
  return null;
}

function addConfirmation(plan: Plan, event: EventOf<'user.tool_confirmation'>): Decision | null {
  const call = callOf(plan.state, event.toolUseId);
  if (!call || call.answered || call.confirmation) return refuseCall(event.toolUseId);
  if (call.tool === 'custom' || call.tool === null || call.permission !== 'ask') {
    return refuse('confirmation_not_asked', `The call ${event.toolUseId} does not wait for a confirmation.`);
  }
  const { toolUseId, result, denyMessage } = event;
  plan.add('user.tool_confirmation', { toolUseId, result }, denyMessage === null ? null : { denyMessage });
  return null;
}

function addCustomResult(plan: Plan, event: EventOf<'user.custom_tool_result'>): Decision | null {
  const call = callOf(plan.state, event.toolUseId);
  if (!call || call.answered || call.tool !== 'custom') return refuseCall(event.toolUseId);
  const { toolUseId, isError, content } = event;
  const facets = { toolUseId, chars: charsOf(content ?? []), ...(isError !== undefined && { isError }) };
  plan.add('user.custom_tool_result', facets, content === undefined ? null : { content });
  return null;
}

function callOf(state: SessionState, id: EventId): ToolCall | undefined {
  return turnOf(state.phase)?.calls.find((call) => call.eventId === id);
}

function refuseCall(id: EventId): Decision {
  return refuse(
    'tool_call_not_open',
    `No open tool call ${id} waits for this: it is unknown, of another kind, or already answered.`,
  );
}

/** An idle session that has work now runs; one that still waits for some answers says for which. */
function settleIdle(plan: Plan, blockedBefore: readonly EventId[]): void {
  const { phase, queue } = plan.state;
  if (phase.status !== 'idle' || phase.stopReason?.type === 'budget_reached') return;
  const open = turnOf(phase)?.calls.some(awaitsClient) ?? false;
  const remaining = blockingIds(plan.state);
  if (open) {
    if (remaining.length < blockedBefore.length) addIdle(plan, { type: 'requires_action', eventIds: remaining });
    return;
  }
  if (turnOf(phase) || queue.some((input) => input.kind === 'user.message')) addRunning(plan);
}

/** Size of content in characters, for estimates. */
export function charsOf(content: readonly unknown[]): number {
  return content.length === 0 ? 0 : JSON.stringify(content).length;
}
