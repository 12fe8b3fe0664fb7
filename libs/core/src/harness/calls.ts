/** Which tool calls of a response may run now, which wait for the client, and which the platform answers itself. */
import type { BuiltinToolName, EventId, ResultCause, Seq } from '@manyhands/protocol';
import type { SessionState, ToolCall, Turn } from '../session/state.ts';
import { turnOf } from '../session/evolve.ts';

const writers: ReadonlySet<string> = new Set<BuiltinToolName>(['bash', 'write', 'edit']);
const readers: ReadonlySet<string> = new Set<BuiltinToolName>(['read', 'glob', 'grep']);

export function runsInHand(call: ToolCall): boolean {
  return call.tool !== null && (writers.has(call.tool) || readers.has(call.tool));
}

/** Allowed by policy or by the client, and not yet answered. */
export function mayRun(call: ToolCall): boolean {
  if (call.answered || call.tool === null || call.tool === 'custom' || call.permission === 'deny') return false;
  return call.permission === 'allow' || call.confirmation?.result === 'allow';
}

/** Waits for a result or a confirmation from the client. */
export function awaitsClient(call: ToolCall): boolean {
  if (call.answered) return false;
  return call.tool === 'custom' || (call.tool !== null && call.permission === 'ask' && call.confirmation === null);
}

/** Answered by the platform with an error: not enabled, unknown, or denied by the client. */
export function refusalCause(call: ToolCall): ResultCause | null {
  if (call.answered || call.tool === 'custom') return null;
  if (call.tool === null || call.permission === 'deny') return 'not_enabled';
  return call.confirmation?.result === 'deny' ? 'denied_by_user' : null;
}

/**
 * The calls to run now. Calls that change the hand run one at a time in the response's order; reading ones run beside
 * each other but not past an earlier change; the others run in parallel. A call that the client allowed comes after those
 * that did not have to wait: what already runs in the hand is not to make room for it.
 */
export function runnableCalls(turn: Turn): ToolCall[] {
  const runnable: ToolCall[] = [];
  let earlierWriter = false;
  let earlierReader = false;
  const allowed = turn.calls.filter(mayRun).sort((one, other) => allowedAt(one) - allowedAt(other));
  for (const call of allowed) {
    const writes = call.tool !== null && writers.has(call.tool);
    const reads = call.tool !== null && readers.has(call.tool);
    if (writes ? !earlierWriter && !earlierReader : !reads || !earlierWriter) runnable.push(call);
    earlierWriter ||= writes;
    earlierReader ||= reads;
  }
  return runnable;
}

function allowedAt(call: ToolCall): Seq {
  return call.confirmation?.seq ?? call.seq;
}

export function openCalls(state: SessionState): ToolCall[] {
  return turnOf(state.phase)?.calls.filter((call) => !call.answered) ?? [];
}

/** Calls that may be under way in a hand by now, whoever started them. */
export function callsInHand(state: SessionState): ToolCall[] {
  return openCalls(state).filter((call) => runsInHand(call) && mayRun(call));
}

export function blockingIds(state: SessionState): EventId[] {
  return openCalls(state)
    .filter(awaitsClient)
    .map((call) => call.eventId);
}

export function runsInHandByName(name: string): boolean {
  return writers.has(name) || readers.has(name);
}
