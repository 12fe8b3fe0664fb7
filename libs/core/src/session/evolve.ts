/**
 * One record onto the state of its session. Total for every log that `decide`, `settle` and the claim can write; throws
 * for a record that cannot follow, which breaks that one stream (L12).
 */
import type { EventId, FoldRecord, Seq, SessionFoldRecord, ToolCallRecord } from '@manyhands/protocol';
import type { ContextState, Phase, QueuedInput, SessionState, ToolCall, Turn } from './state.ts';
import { addTokens, noUsage, usageAt } from './usage.ts';

export class CannotEvolve extends Error {
  override readonly name = 'CannotEvolve';
}

export const newTurn: Turn = { request: null, calls: [], next: 'end', failures: 0, compactions: 0 };

export function evolveSession(before: SessionState | null, record: SessionFoldRecord): SessionState {
  if (record.kind === 'session.created') {
    if (before) throw new CannotEvolve('session.created twice');
    return created(record);
  }
  if (!before) throw new CannotEvolve(`${record.kind} before session.created`);
  const state = { ...before, seq: record.seq, time: record.time };
  switch (record.kind) {
    case 'session.updated':
      return updated(state, record);
    case 'session.deleted':
      return { ...state, deletedAt: record.time, updatedAt: record.time };
    case 'session.erased':
      return { ...state, erased: true };
    case 'session.status_running':
      return {
        ...state,
        updatedAt: record.time,
        phase: { status: 'running', turn: turnOf(state.phase) },
        runningSince: record.time,
        startedAt: state.startedAt ?? record.time,
      };
    case 'session.status_idle':
      return idled(state, record);
    case 'session.thread_status_rescheduled':
      return { ...state, phase: { status: 'rescheduling', turn: turnOf(state.phase), retryAt: record.facets.retryAt } };
    case 'session.status_rescheduled':
      return { ...state, updatedAt: record.time, usage: usageAt(before, record.time), runningSince: null };
    case 'session.status_terminated':
      return terminated(state, record);
    case 'session.usage':
      return { ...state, usage: record.facets.usage, runningSince: state.runningSince === null ? null : record.time };
    case 'session.error':
      return record.facets.retryStatus === 'retrying'
        ? withTurn(state, (turn) => ({ ...turn, failures: turn.failures + 1 }))
        : state;
    case 'session.thread_status_running':
    case 'session.thread_status_idle':
    case 'session.thread_status_terminated':
    case 'agent.thinking':
    case 'agent.message':
    case 'agent.thread_context_compacted':
      return state;
    case 'user.message':
    case 'system.message':
      return enqueue(state, record, record.facets.chars);
    case 'user.interrupt':
      return record.facets.placed ? state : enqueue(state, record, 0);
    case 'input.taken':
      return taken(state, record);
    case 'input.dropped':
      return { ...state, queue: without(state.queue, record.facets.seqs) };
    case 'user.tool_confirmation':
      return withCall(state, record.facets.toolUseId, (call) => ({
        ...call,
        confirmation: { result: record.facets.result, seq: record.seq },
      }));
    case 'user.custom_tool_result':
      return answered(state, record);
    case 'agent.tool_result':
      return answered({ ...state, barrenTakeovers: 0 }, record);
    case 'agent.tool_use':
    case 'agent.custom_tool_use':
      return called(state, record);
    case 'span.model_request_start':
      return requested(state, record);
    case 'span.model_request_end':
      return requestEnded(state, record);
    case 'model.response':
      return responded(state, record);
    case 'lease.taken':
      return {
        ...state,
        epoch: (state.epoch + 1) as SessionState['epoch'],
        barrenTakeovers: state.lease ? state.barrenTakeovers + 1 : state.barrenTakeovers,
        lease: { incarnation: record.facets.incarnation, takenAt: record.time },
      };
    case 'lease.released':
      return { ...state, lease: null, barrenTakeovers: 0 };
    case 'hand.provisioned':
      return { ...state, hand: { ...record.facets, status: 'provisioned' } };
    case 'hand.lost':
      return { ...state, hand: { ...record.facets, status: 'lost' } };
    case 'hand.checkpointed':
      return { ...state, hand: { ...record.facets, status: 'checkpointed' } };
    case 'hand.destroyed':
      return { ...state, hand: { ...record.facets, status: 'destroyed' } };
    case 'context.trimmed':
      return { ...state, context: trimmed(state.context, record.facets.throughSeq) };
    case 'context.compacted':
      return compacted(state, record);
  }
}

function created(record: FoldRecord<'session.created'>): SessionState {
  const { facets, seq, time } = record;
  return {
    sessionId: record.facets.sessionId,
    workspaceId: facets.workspaceId,
    seq,
    epoch: 0 as SessionState['epoch'],
    time,
    createdAt: time,
    updatedAt: time,
    archivedAt: null,
    deletedAt: null,
    erased: false,
    agentId: facets.agentId,
    agentVersion: facets.agentVersion,
    environmentId: facets.environmentId,
    threadId: facets.threadId,
    model: facets.model,
    budgetCents: facets.budgetCents,
    contents: { titleSeq: seq, metadataSeq: seq, agentSeq: seq },
    phase: { status: 'idle', stopReason: null, turn: null },
    queue: [],
    lease: null,
    barrenTakeovers: 0,
    usage: noUsage,
    runningSince: null,
    lastStop: null,
    startedAt: null,
    hand: null,
    context: {
      tokens: 0,
      charsSince: facets.agentChars,
      olderResultChars: 0,
      recentResultChars: 0,
      lastResponseSeq: 0 as Seq,
      trimmedThrough: 0 as Seq,
      compactedThrough: 0 as Seq,
      summarySeq: 0 as Seq,
      agentChars: facets.agentChars,
    },
  };
}

function updated(state: SessionState, record: FoldRecord<'session.updated'>): SessionState {
  const { changed, budgetCents, agentChars } = record.facets;
  const at = (field: 'title' | 'metadata' | 'agent', seq: Seq): Seq => (changed.includes(field) ? record.seq : seq);
  const grown = agentChars === undefined ? 0 : agentChars - state.context.agentChars;
  return {
    ...state,
    updatedAt: record.time,
    budgetCents: budgetCents === undefined ? state.budgetCents : budgetCents,
    contents: {
      titleSeq: at('title', state.contents.titleSeq),
      metadataSeq: at('metadata', state.contents.metadataSeq),
      agentSeq: at('agent', state.contents.agentSeq),
    },
    context: {
      ...state.context,
      agentChars: agentChars ?? state.context.agentChars,
      charsSince: Math.max(0, state.context.charsSince + grown),
    },
  };
}

function idled(state: SessionState, record: FoldRecord<'session.status_idle'>): SessionState {
  const { stopReason } = record.facets;
  const paused = stopReason.type === 'requires_action' || stopReason.type === 'budget_reached';
  const turn = paused ? turnOf(state.phase) : null;
  return {
    ...state,
    updatedAt: record.time,
    phase: { status: 'idle', stopReason, turn },
    runningSince: null,
    lastStop: stopReason,
  };
}

function terminated(state: SessionState, record: FoldRecord<'session.status_terminated'>): SessionState {
  return {
    ...state,
    updatedAt: record.time,
    archivedAt: record.facets.cause === 'archived' ? record.time : state.archivedAt,
    phase: { status: 'terminated' },
    runningSince: null,
  };
}

function enqueue(
  state: SessionState,
  record: FoldRecord<'user.message' | 'system.message' | 'user.interrupt'>,
  chars: number,
): SessionState {
  const input: QueuedInput = { seq: record.seq, id: record.id, kind: record.kind, chars };
  return { ...state, queue: [...state.queue, input] };
}

function taken(state: SessionState, record: FoldRecord<'input.taken'>): SessionState {
  const { seqs } = record.facets;
  const inputs = state.queue.filter((input) => seqs.includes(input.seq));
  if (inputs.length !== seqs.length) throw new CannotEvolve('input.taken names an input that does not wait');
  const chars = inputs.reduce((sum, input) => sum + input.chars, 0);
  const rest: SessionState = {
    ...state,
    queue: without(state.queue, seqs),
    context: { ...state.context, charsSince: state.context.charsSince + chars },
  };
  if (!inputs.some((input) => input.kind === 'user.message')) return rest;
  return setTurn(rest, { ...(turnOf(rest.phase) ?? newTurn), next: 'model' });
}

function answered(
  state: SessionState,
  record: FoldRecord<'agent.tool_result' | 'user.custom_tool_result'>,
): SessionState {
  const { toolUseId, chars } = record.facets;
  const context: ContextState = {
    ...state.context,
    charsSince: state.context.charsSince + chars,
    recentResultChars: state.context.recentResultChars + chars,
  };
  return withCall({ ...state, context }, toolUseId, (call) => {
    if (call.answered) throw new CannotEvolve(`a second result for ${toolUseId}`);
    return { ...call, answered: true };
  });
}

function called(state: SessionState, record: ToolCallRecord): SessionState {
  const call: ToolCall = {
    eventId: record.id,
    seq: record.seq,
    tool: record.kind === 'agent.custom_tool_use' ? 'custom' : record.facets.tool,
    permission: record.kind === 'agent.custom_tool_use' ? 'allow' : record.facets.permission,
    confirmation: null,
    answered: false,
  };
  return withTurn(state, (turn) => ({ ...turn, calls: [...turn.calls, call], next: 'model' }));
}

function requested(state: SessionState, record: FoldRecord<'span.model_request_start'>): SessionState {
  const turn = turnOf(state.phase) ?? newTurn;
  if (turn.request) throw new CannotEvolve('a model request while another is open');
  const request = { startId: record.id, startSeq: record.seq, ...record.facets };
  return setTurn(state, { ...turn, request });
}

function requestEnded(state: SessionState, record: FoldRecord<'span.model_request_end'>): SessionState {
  const { startId, usage, cost, tooLong } = record.facets;
  const ended = withTurn(state, (turn) => {
    if (turn.request?.startId !== startId) throw new CannotEvolve('the end of a model request that is not open');
    return { ...turn, request: null };
  });
  const context = tooLong ? { ...state.context, tokens: Number.MAX_SAFE_INTEGER, charsSince: 0 } : state.context;
  return { ...ended, usage: addTokens(state.usage, usage, cost), context };
}

function responded(state: SessionState, record: FoldRecord<'model.response'>): SessionState {
  const { stopReason, contextTokens } = record.facets;
  const next: Turn['next'] =
    stopReason === 'refusal' ? 'refusal' : stopReason === 'tool_use' || stopReason === 'pause_turn' ? 'model' : 'end';
  const context: ContextState = {
    ...state.context,
    tokens: contextTokens,
    charsSince: 0,
    olderResultChars: state.context.olderResultChars + state.context.recentResultChars,
    recentResultChars: 0,
    lastResponseSeq: record.seq,
  };
  const answeredTurn = withTurn(state, (turn) => ({ ...turn, calls: [], next, failures: 0, compactions: 0 }));
  return { ...answeredTurn, barrenTakeovers: 0, context };
}

function trimmed(context: ContextState, throughSeq: Seq): ContextState {
  return {
    ...context,
    trimmedThrough: throughSeq,
    tokens: Math.max(0, context.tokens - Math.ceil(context.olderResultChars / charsPerToken)),
    olderResultChars: 0,
  };
}

function compacted(state: SessionState, record: FoldRecord<'context.compacted'>): SessionState {
  const { throughSeq, summaryChars } = record.facets;
  const context: ContextState = {
    ...state.context,
    tokens: 0,
    charsSince: state.context.agentChars + summaryChars,
    olderResultChars: 0,
    recentResultChars: 0,
    compactedThrough: throughSeq,
    summarySeq: record.seq,
  };
  const counted = withTurn(state, (turn) => ({ ...turn, compactions: turn.compactions + 1 }));
  return { ...counted, barrenTakeovers: 0, context };
}

/** What a token takes in characters, roughly; estimates only. */
export const charsPerToken = 4;

export function turnOf(phase: Phase): Turn | null {
  return phase.status === 'terminated' ? null : phase.turn;
}

function setTurn(state: SessionState, turn: Turn): SessionState {
  if (state.phase.status === 'terminated') throw new CannotEvolve('work in a terminated session');
  return { ...state, phase: { ...state.phase, turn } };
}

function withTurn(state: SessionState, change: (turn: Turn) => Turn): SessionState {
  const turn = turnOf(state.phase);
  if (!turn) throw new CannotEvolve('work outside a turn');
  return setTurn(state, change(turn));
}

function withCall(state: SessionState, id: EventId, change: (call: ToolCall) => ToolCall): SessionState {
  return withTurn(state, (turn) => {
    const index = turn.calls.findIndex((call) => call.eventId === id);
    const call = turn.calls[index];
    if (!call) throw new CannotEvolve(`no open call ${id}`);
    return { ...turn, calls: turn.calls.with(index, change(call)) };
  });
}

function without(queue: readonly QueuedInput[], seqs: readonly Seq[]): QueuedInput[] {
  return queue.filter((input) => !seqs.includes(input.seq));
}
