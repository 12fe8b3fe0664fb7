/**
 * What to append when an action came to its end, decided on the state as it is now. After a conflict it is decided
 * again: an outcome that an interrupt has overtaken leaves nothing but its use; any other outcome stands.
 */
import type {
  BuiltinToolName,
  EventId,
  Instant,
  Microcents,
  ModelBlock,
  ModelStopReason,
  Permission,
  PolicyName,
  Seq,
  SessionErrorType,
  TokenUsage,
  ToolResultContent,
} from '@manyhands/protocol';
import type { SessionState } from '../session/state.ts';
import { turnOf } from '../session/evolve.ts';
import { Plan } from '../session/plan.ts';
import type { StopDetails } from '../session/turn-end.ts';
import { addExhausted, addRefusedResult, addRelease, closeRequest } from '../session/turn-end.ts';
import { costOf, noTokens } from '../session/usage.ts';
import { advance } from './advance.ts';
import type { TurnLimits } from './limits.ts';

/** How a `tool_use` block stands to the agent's tools. */
export type CallKind =
  | { kind: 'builtin'; tool: BuiltinToolName; permission: Permission; policy: PolicyName }
  | { kind: 'custom' }
  | { kind: 'unknown' };

export interface Responded {
  type: 'responded';
  startId: EventId;
  blocks: ModelBlock[];
  stopReason: ModelStopReason;
  stopDetails: StopDetails;
  usage: TokenUsage;
  /** Per block index: the event id shown in previews. */
  eventIds: ReadonlyMap<number, EventId>;
  /** Per `tool_use` block index. */
  calls: ReadonlyMap<number, CallKind>;
}

export type Outcome =
  | Responded
  | { type: 'compacted'; startId: EventId; summary: string; usage: TokenUsage }
  | {
      type: 'model-failed';
      startId: EventId;
      retriable: boolean;
      tooLong: boolean;
      errorType: SessionErrorType;
      message: string;
      usage: TokenUsage | null;
      /** When to try again, if it may be tried. */
      retryAt: Instant;
    }
  | {
      type: 'tool-answered';
      toolUseId: EventId;
      isError: boolean;
      content: ToolResultContent[];
      chars: number;
      hand: HandUse | null;
    }
  /** The sandbox died. `started`: the call may have run partly; else it is simply made again in a new one. */
  | { type: 'hand-lost'; toolUseId: EventId; started: boolean; hand: string; generation: number };

/** The hand that a result came from; recorded with the first result of each generation. */
export interface HandUse {
  hand: string;
  generation: number;
}

/** A plan without records when the outcome came too late to matter. */
export function settle(
  state: SessionState,
  outcome: Outcome,
  limits: TurnLimits,
  now: Instant,
  newId: () => EventId,
): Plan {
  const plan = new Plan(state, now, newId);
  if (!state.lease) return plan; // An outcome before this one ended the turn.
  switch (outcome.type) {
    case 'responded':
      return settleResponse(plan, outcome, limits);
    case 'compacted':
      return settleCompaction(plan, outcome, limits);
    case 'model-failed':
      return settleFailure(plan, outcome, limits);
    case 'tool-answered':
      return settleTool(plan, outcome, limits);
    case 'hand-lost':
      return settleLostHand(plan, outcome, limits);
  }
}

function isOpen(state: SessionState, startId: EventId): boolean {
  return turnOf(state.phase)?.request?.startId === startId;
}

function isInterrupted(state: SessionState): boolean {
  return state.queue.some((input) => input.kind === 'user.interrupt');
}

function settleResponse(plan: Plan, outcome: Responded, limits: TurnLimits): Plan {
  if (!isOpen(plan.state, outcome.startId)) return plan;
  const cost = costOf(outcome.usage, limits.price);
  if (isInterrupted(plan.state)) {
    advance(plan, limits, { cutShort: { usage: outcome.usage, cost } });
    return plan;
  }
  addResponse(plan, outcome);
  const { startId, usage } = outcome;
  plan.add('span.model_request_end', { startId, isError: false, usage, cost }, null);
  answerCutCall(plan, outcome);
  advance(plan, limits, { stopDetails: outcome.stopDetails });
  return plan;
}

/** The raw response first, then one event per thinking block, per run of text and per call, in the response's order. */
function addResponse(plan: Plan, outcome: Responded): void {
  const { startId, blocks, stopReason, usage } = outcome;
  const contextTokens =
    usage.inputTokens +
    usage.cacheReadInputTokens +
    usage.cacheCreation5mInputTokens +
    usage.cacheCreation1hInputTokens +
    usage.outputTokens;
  const responseSeq = plan.nextSeq;
  plan.add('model.response', { startId, stopReason, contextTokens }, { blocks });
  let run: number[] = [];
  const flush = (): void => {
    if (run.some((index) => blocks[index]?.text !== '')) {
      plan.add('agent.message', { responseSeq, blocks: run }, null, outcome.eventIds.get(run[0] ?? -1));
    }
    run = [];
  };
  blocks.forEach((block, index) => {
    if (block.type === 'text') {
      run.push(index);
      return;
    }
    flush();
    const id = outcome.eventIds.get(index);
    if (block.type === 'thinking' || block.type === 'redacted_thinking') plan.add('agent.thinking', {}, null, id);
    if (block.type === 'tool_use') addCall(plan, outcome, block, index, responseSeq);
  });
  flush();
}

function addCall(plan: Plan, outcome: Responded, block: ModelBlock, index: number, responseSeq: Seq): void {
  const call = outcome.calls.get(index) ?? { kind: 'unknown' };
  const base = { responseSeq, block: index, callId: String(block.id) };
  if (call.kind === 'custom') {
    plan.add('agent.custom_tool_use', base, null);
  } else if (call.kind === 'unknown') {
    plan.add('agent.tool_use', { ...base, tool: null, permission: 'deny', policy: null }, null);
  } else {
    const { tool, permission, policy } = call;
    const shown = permission === 'deny' ? null : policy;
    plan.add('agent.tool_use', { ...base, tool, permission, policy: shown }, null);
  }
}

/** A call that the output limit cut off has no whole input; it is answered, not run. */
function answerCutCall(plan: Plan, outcome: Responded): void {
  if (outcome.stopReason !== 'max_tokens' || outcome.blocks.at(-1)?.type !== 'tool_use') return;
  const last = turnOf(plan.state.phase)?.calls.at(-1);
  if (last) addRefusedResult(plan, last, 'cut_off');
}

function settleCompaction(plan: Plan, outcome: Outcome & { type: 'compacted' }, limits: TurnLimits): Plan {
  if (!isOpen(plan.state, outcome.startId)) return plan;
  const cost = costOf(outcome.usage, limits.price);
  if (isInterrupted(plan.state)) {
    advance(plan, limits, { cutShort: { usage: outcome.usage, cost } });
    return plan;
  }
  const throughSeq = ((turnOf(plan.state.phase)?.request?.startSeq ?? 1) - 1) as Seq;
  const { startId, usage, summary } = outcome;
  plan.add('context.compacted', { throughSeq, summaryChars: summary.length }, { summary });
  plan.add('span.model_request_end', { startId, isError: false, usage, cost }, null);
  plan.add('agent.thread_context_compacted', {}, null);
  advance(plan, limits);
  return plan;
}

function settleFailure(plan: Plan, outcome: Outcome & { type: 'model-failed' }, limits: TurnLimits): Plan {
  const turn = turnOf(plan.state.phase);
  if (!turn || !isOpen(plan.state, outcome.startId)) return plan;
  const told = outcome.usage ? { usage: outcome.usage, cost: costOf(outcome.usage, limits.price) } : null;
  if (isInterrupted(plan.state)) {
    advance(plan, limits, { cutShort: told });
    return plan;
  }
  if (outcome.tooLong && turn.compactions < limits.maxCompactions && turn.request?.purpose === 'turn') {
    const usage = told?.usage ?? noTokens;
    plan.add(
      'span.model_request_end',
      { startId: outcome.startId, isError: true, usage, cost: told?.cost ?? (0 as Microcents), tooLong: true },
      null,
    );
    advance(plan, limits);
    return plan;
  }
  closeRequest(plan, told);
  if (outcome.retriable && turn.failures + 1 < limits.maxFailures) reschedule(plan, outcome);
  else addExhausted(plan, outcome.errorType, outcome.message);
  return plan;
}

function reschedule(plan: Plan, outcome: Outcome & { type: 'model-failed' }): void {
  const { errorType, message, retryAt } = outcome;
  plan.add('session.error', { errorType, retryStatus: 'retrying' }, { message });
  plan.add('session.thread_status_rescheduled', { threadId: plan.state.threadId, retryAt }, null);
  plan.add('session.status_rescheduled', {}, null);
  addRelease(plan);
}

function settleTool(plan: Plan, outcome: Outcome & { type: 'tool-answered' }, limits: TurnLimits): Plan {
  if (!isUnanswered(plan.state, outcome.toolUseId)) return plan;
  const { toolUseId, isError, chars, content, hand } = outcome;
  if (hand && !isKnownHand(plan.state, hand)) plan.add('hand.provisioned', hand, null);
  if (!isInterrupted(plan.state)) plan.add('agent.tool_result', { toolUseId, isError, chars }, { content });
  advance(plan, limits);
  return plan;
}

function settleLostHand(plan: Plan, outcome: Outcome & { type: 'hand-lost' }, limits: TurnLimits): Plan {
  const { hand, generation, toolUseId, started } = outcome;
  const known = plan.state.hand;
  if (!known || known.generation <= generation) {
    if (known?.generation !== generation || known.status !== 'lost') plan.add('hand.lost', { hand, generation }, null);
  }
  const call = turnOf(plan.state.phase)?.calls.find((candidate) => candidate.eventId === toolUseId);
  if (started && call && !call.answered && !isInterrupted(plan.state)) addRefusedResult(plan, call, 'sandbox_lost');
  advance(plan, limits);
  return plan;
}

function isUnanswered(state: SessionState, id: EventId): boolean {
  return turnOf(state.phase)?.calls.some((call) => call.eventId === id && !call.answered) ?? false;
}

/** A result from the journal of a hand that was given up does not bring that hand back. */
function isKnownHand(state: SessionState, hand: HandUse): boolean {
  return state.hand !== null && state.hand.generation >= hand.generation;
}
