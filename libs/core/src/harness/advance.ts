/**
 * What the log must say next, given what it says already: refused calls are answered, inputs taken, the next model
 * request opened, or the turn ended and the lease released. The claim, every settled outcome and every record of others
 * that the holder folds go through this one function, so that a takeover writes what an undisturbed holder would have
 * written (H1).
 */
import type { Microcents, Seq, TokenUsage } from '@manyhands/protocol';
import type { SessionState, Turn } from '../session/state.ts';
import { charsPerToken, turnOf } from '../session/evolve.ts';
import type { Plan } from '../session/plan.ts';
import type { StopDetails } from '../session/turn-end.ts';
import {
  addExhausted,
  addIdle,
  addRefusedResult,
  addRelease,
  addRunning,
  closeCalls,
  closeRequest,
} from '../session/turn-end.ts';
import { costOf, isBudgetReached, noTokens } from '../session/usage.ts';
import { blockingIds, refusalCause, runnableCalls } from './calls.ts';
import type { TurnLimits } from './limits.ts';

/** What the holder knows beside the log. */
export interface Knowledge {
  /** Use of a model request that an interrupt cut short. */
  cutShort?: { usage: TokenUsage; cost: Microcents } | null;
  stopDetails?: StopDetails;
}

export function advance(plan: Plan, limits: TurnLimits, knowledge: Knowledge = {}): void {
  while (stepOnce(plan, limits, knowledge));
}

/** One move; false when the session waits for an action, or has stopped. */
function stepOnce(plan: Plan, limits: TurnLimits, knowledge: Knowledge): boolean {
  const { state } = plan;
  if (state.phase.status !== 'running') return false;
  if (interrupts(state).length > 0) return interruptTurn(plan, knowledge);
  const { turn } = state.phase;
  if (turn?.request) return false;
  if (turn && answerRefused(plan, turn)) return true;
  if (turn && runnableCalls(turn).length > 0) return false;
  const blocking = blockingIds(state);
  if (blocking.length > 0) return stop(plan, () => addIdle(plan, { type: 'requires_action', eventIds: blocking }));
  if (turn?.next === 'model') return openRequest(plan, limits, systemMessages(state));
  const waiting = state.queue.map((input) => input.seq);
  if (state.queue.some((input) => input.kind === 'user.message')) return openRequest(plan, limits, waiting);
  return endTurn(plan, turn, knowledge);
}

function interrupts(state: SessionState): Seq[] {
  return state.queue.filter((input) => input.kind === 'user.interrupt').map((input) => input.seq);
}

/** System messages at the head of the queue belong to the request that goes on; user messages wait for their turn. */
function systemMessages(state: SessionState): Seq[] {
  const end = state.queue.findIndex((input) => input.kind !== 'system.message');
  return state.queue.slice(0, end === -1 ? undefined : end).map((input) => input.seq);
}

function interruptTurn(plan: Plan, knowledge: Knowledge): boolean {
  closeRequest(plan, knowledge.cutShort ?? null);
  plan.add('input.taken', { seqs: interrupts(plan.state) }, null);
  closeCalls(plan, 'interrupted');
  addIdle(plan, { type: 'end_turn' });
  if (!plan.state.queue.some((input) => input.kind === 'user.message')) {
    addRelease(plan);
    return false;
  }
  addRunning(plan);
  return true;
}

function answerRefused(plan: Plan, turn: Turn): boolean {
  let answered = false;
  for (const call of turn.calls) {
    const cause = refusalCause(call);
    if (!cause) continue;
    addRefusedResult(plan, call, cause);
    answered = true;
  }
  return answered;
}

function stop(plan: Plan, addStop: () => void): false {
  addStop();
  addRelease(plan);
  return false;
}

/** Opens the next model request with these inputs, unless the budget or the window says otherwise. */
function openRequest(plan: Plan, limits: TurnLimits, inputs: Seq[]): boolean {
  if (isBudgetReached(plan.state, plan.now)) return stop(plan, () => addIdle(plan, { type: 'budget_reached' }));
  const pending = plan.state.queue.filter((input) => inputs.includes(input.seq));
  const pendingChars = pending.reduce((sum, input) => sum + input.chars, 0);
  const room = makeRoom(plan, limits, pendingChars);
  if (room !== 'fits') return room === 'changed';
  if (inputs.length > 0) plan.add('input.taken', { seqs: inputs }, null);
  addRequestStart(plan, limits, 'turn');
  return false;
}

/** Shortens old tool results first, then has the context compacted. */
function makeRoom(plan: Plan, limits: TurnLimits, pendingChars: number): 'fits' | 'changed' | 'compacting' {
  const { context } = plan.state;
  const estimate = estimatedTokens(plan.state) + Math.ceil(pendingChars / charsPerToken);
  const { contextWindowTokens: window } = limits;
  if (estimate <= window * limits.trimAbove) return 'fits';
  if (context.olderResultChars > window * 0.1) {
    plan.add('context.trimmed', { throughSeq: context.lastResponseSeq }, null);
    return 'changed';
  }
  const worthCompacting = context.tokens > window * 0.2;
  if (estimate <= window * limits.compactAbove || !worthCompacting) return 'fits';
  if ((turnOf(plan.state.phase)?.compactions ?? 0) >= limits.maxCompactions) {
    addExhausted(plan, 'compaction_limit_reached_error', 'The context stays larger than the model can take.');
    return 'compacting';
  }
  addRequestStart(plan, limits, 'compaction');
  return 'compacting';
}

export function estimatedTokens(state: SessionState): number {
  return state.context.tokens + Math.ceil(state.context.charsSince / charsPerToken);
}

function addRequestStart(plan: Plan, limits: TurnLimits, purpose: 'turn' | 'compaction'): void {
  const estimatedInputTokens = Math.min(estimatedTokens(plan.state), limits.contextWindowTokens);
  const estimatedCost = costOf({ ...noTokens, inputTokens: estimatedInputTokens }, limits.price);
  plan.add('span.model_request_start', { purpose, estimatedInputTokens, estimatedCost }, null);
}

/** A thread that crossed the cap with its last request says how it ended; the session says why it will not go on. */
function endTurn(plan: Plan, turn: Turn | null, knowledge: Knowledge): false {
  const threadStop = { type: turn?.next === 'refusal' ? ('refusal' as const) : ('end_turn' as const) };
  const details = threadStop.type === 'refusal' ? (knowledge.stopDetails ?? null) : null;
  const sessionStop = isBudgetReached(plan.state, plan.now) ? { type: 'budget_reached' as const } : threadStop;
  return stop(plan, () => addIdle(plan, sessionStop, details, threadStop));
}
