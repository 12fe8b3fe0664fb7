/** The records that end or interrupt a turn, in the order of the wire: thread idle, usage, session idle. */
import type { ResultCause, SessionErrorType, StopReasonFacet, TokenUsage, Microcents } from '@manyhands/protocol';
import type { ToolCall } from './state.ts';
import type { Plan } from './plan.ts';
import { openCalls } from '../harness/calls.ts';
import { turnOf } from './evolve.ts';
import { usageAt } from './usage.ts';

export type StopDetails = { category: string | null; explanation: string | null } | null;

/** `threadStop` differs where the thread ended by itself while the session met its budget. */
export function addIdle(
  plan: Plan,
  stop: StopReasonFacet,
  details: StopDetails = null,
  threadStop: StopReasonFacet = stop,
): void {
  const payload = details ? { stopDetails: details } : null;
  plan.add('session.thread_status_idle', { threadId: plan.state.threadId, stopReason: threadStop }, payload);
  addUsage(plan);
  plan.add('session.status_idle', { stopReason: stop }, payload);
}

function addUsage(plan: Plan): void {
  const { state } = plan;
  plan.add('session.usage', { usage: usageAt(state, plan.now), budgetCents: state.budgetCents }, null);
}

export function addRunning(plan: Plan): void {
  plan.add('session.status_running', {}, null);
  plan.add('session.thread_status_running', { threadId: plan.state.threadId }, null);
}

export function addRelease(plan: Plan): void {
  if (plan.state.lease) plan.add('lease.released', {}, null);
}

/** An error result made by the platform. */
export function addRefusedResult(plan: Plan, call: ToolCall, cause: ResultCause): void {
  const base = { toolUseId: call.eventId, chars: 100, isError: true, cause };
  if (call.tool === 'custom') plan.add('user.custom_tool_result', base, null);
  else if (cause === 'denied_by_user' && call.confirmation) {
    plan.add('agent.tool_result', { ...base, confirmationSeq: call.confirmation.seq }, null);
  } else plan.add('agent.tool_result', base, null);
}

export function closeCalls(plan: Plan, cause: ResultCause): void {
  for (const call of openCalls(plan.state)) addRefusedResult(plan, call, cause);
}

/** Closes the open model request, if there is one. A request that told no usage counts its estimate (2.6). */
export function closeRequest(plan: Plan, told: { usage: TokenUsage; cost: Microcents } | null): void {
  const request = turnOf(plan.state.phase)?.request;
  if (!request) return;
  const usage = told?.usage ?? estimatedUsage(request.estimatedInputTokens);
  const cost = told?.cost ?? request.estimatedCost;
  plan.add('span.model_request_end', { startId: request.startId, isError: true, usage, cost }, null);
}

function estimatedUsage(inputTokens: number): TokenUsage {
  return {
    inputTokens,
    outputTokens: 0,
    cacheReadInputTokens: 0,
    cacheCreation5mInputTokens: 0,
    cacheCreation1hInputTokens: 0,
  };
}

/** Gives the turn up: what is open is answered, what waits is dropped, and the next message starts anew. */
export function addExhausted(plan: Plan, errorType: SessionErrorType, message: string): void {
  plan.add('session.error', { errorType, retryStatus: 'exhausted' }, { message });
  closeCalls(plan, 'retries_exhausted');
  const seqs = plan.state.queue.map((input) => input.seq);
  if (seqs.length > 0) plan.add('input.dropped', { seqs }, null);
  addIdle(plan, { type: 'retries_exhausted' });
  addRelease(plan);
}
