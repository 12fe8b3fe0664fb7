/**
 * What the API promises of every history of a single-threaded session, as rules over the listed events, oldest first.
 * Each rule tells what is wrong in words, so that a failed test names the event.
 */
import { isDeepStrictEqual } from 'node:util';
import type { SessionEvent, StreamEvent } from './stream-recorder.ts';

type Rule = (history: readonly SessionEvent[]) => string[];
type Idle = Extract<SessionEvent, { type: 'session.status_idle' }>;

/** Empty when the history is as it should be. A history may end within a turn. */
export function historyFaults(history: readonly SessionEvent[]): string[] {
  return rules.flatMap((rule) => rule(history));
}

const rules: readonly Rule[] = [
  idsAreUnique,
  timesDoNotDecrease,
  spansArePaired,
  callsHaveOneResult,
  statusesFollowEachOther,
  threadIsAlwaysThePrimary,
  usagePrecedesIdle,
  idleNamesWhatBlocks,
  errorsAreFollowedUp,
];

function idsAreUnique(history: readonly SessionEvent[]): string[] {
  const seen = new Set<string>();
  return history.flatMap(({ id, type }) => {
    if (!seen.has(id)) return seen.add(id) && [];
    return [`${type} ${id} is listed twice`];
  });
}

/** Events that wait have no time and come last. */
function timesDoNotDecrease(history: readonly SessionEvent[]): string[] {
  let latest = 0;
  let someoneWaits = false;
  return history.flatMap(({ id, type, processed_at: at }) => {
    if (at == null) {
      someoneWaits = true;
      return type === 'user.message' || type === 'user.interrupt' || type === 'system.message'
        ? []
        : [`${type} ${id} has no processed_at`];
    }
    const time = Date.parse(at);
    const faults = time < latest ? [`${type} ${id} is older than the event before it`] : [];
    if (someoneWaits) faults.push(`${type} ${id} stands after an event that waits`);
    latest = Math.max(latest, time);
    return faults;
  });
}

/** One request at a time; what the model said stands within it, and its calls' results outside. */
function spansArePaired(history: readonly SessionEvent[]): string[] {
  let open: string | null = null;
  return history.flatMap((event) => {
    const { id, type } = event;
    switch (type) {
      case 'span.model_request_start': {
        const faults = open === null ? [] : [`${id} starts while ${open} is open`];
        open = id;
        return faults;
      }
      case 'span.model_request_end': {
        const faults = event.model_request_start_id === open ? [] : [`${id} ends no open request`];
        open = null;
        return faults;
      }
      case 'agent.message':
      case 'agent.thinking':
      case 'agent.tool_use':
      case 'agent.custom_tool_use':
        return open === null ? [`${type} ${id} stands outside of a model request`] : [];
      case 'agent.tool_result':
      case 'user.custom_tool_result':
      case 'session.status_idle':
      case 'session.status_rescheduled':
      case 'session.status_running':
        return open === null ? [] : [`${type} ${id} stands within the model request ${open}`];
      default:
        return [];
    }
  });
}

/** At most one, of the right kind, after the call; and none is missing once the turn is over. */
function callsHaveOneResult(history: readonly SessionEvent[]): string[] {
  const open = new Map<string, SessionEvent['type']>();
  const answer = (result: SessionEvent, callId: string, of: SessionEvent['type']): string[] => {
    if (open.get(callId) !== of) return [`${result.type} ${result.id} answers no open ${of}: ${callId}`];
    open.delete(callId);
    return [];
  };
  return history.flatMap((event) => {
    switch (event.type) {
      case 'agent.tool_use':
      case 'agent.custom_tool_use':
        open.set(event.id, event.type);
        return [];
      case 'agent.tool_result':
        return answer(event, event.tool_use_id, 'agent.tool_use');
      case 'user.custom_tool_result':
        return answer(event, event.custom_tool_use_id, 'agent.custom_tool_use');
      case 'span.model_request_start':
      case 'session.status_idle': {
        const mayWait = event.type === 'session.status_idle' && waitsForClient(event);
        return mayWait || open.size === 0
          ? []
          : [`${event.type} ${event.id} leaves calls open: ${[...open.keys()].join()}`];
      }
      default:
        return [];
    }
  });
}

function waitsForClient({ stop_reason: { type } }: Idle): boolean {
  return type === 'requires_action' || type === 'budget_reached';
}

/** Which status may follow which; idle follows idle only where it tells what still blocks, or that nothing does. */
function statusesFollowEachOther(history: readonly SessionEvent[]): string[] {
  let status = 'idle';
  let mayRepeatIdle = false;
  return history.flatMap((event, index) => {
    const { id, type } = event;
    const from = (...allowed: string[]): string[] => {
      const faults = allowed.includes(status) ? [] : [`${type} ${id} follows ${status}`];
      status = type.slice('session.status_'.length);
      return faults;
    };
    switch (type) {
      case 'session.status_running':
        return [...from('idle', 'rescheduled'), ...expectNext(history, index, 'session.thread_status_running')];
      case 'session.status_rescheduled':
        return [...from('running'), ...expectBefore(history, index, 'session.thread_status_rescheduled')];
      case 'session.status_idle': {
        const faults = mayRepeatIdle ? from('running', 'rescheduled', 'idle') : from('running', 'rescheduled');
        mayRepeatIdle = waitsForClient(event);
        return faults;
      }
      case 'session.status_terminated':
        return [...from('idle'), ...expectBefore(history, index, 'session.thread_status_terminated')];
      case 'span.model_request_start':
        return status === 'running' ? [] : [`${type} ${id} in status ${status}`];
      case 'agent.tool_result':
        return status === 'running' || mayRepeatIdle ? [] : [`${type} ${id} in status ${status}`];
      default:
        return status === 'terminated' ? [`${type} ${id} follows the end of the session`] : [];
    }
  });
}

function expectNext(history: readonly SessionEvent[], index: number, type: string): string[] {
  const next = history[index + 1];
  return !next || next.type === type ? [] : [`${next.type} ${next.id} stands where ${type} should`];
}

function expectBefore(history: readonly SessionEvent[], index: number, type: string): string[] {
  const before = history[index - 1];
  return before?.type === type ? [] : [`${before?.type ?? 'nothing'} stands where ${type} should`];
}

function threadIsAlwaysThePrimary(history: readonly SessionEvent[]): string[] {
  let primary: string | null = null;
  return history.flatMap((event) => {
    if (!event.type.startsWith('session.thread_status_') || !('session_thread_id' in event)) return [];
    primary ??= event.session_thread_id ?? null;
    return event.session_thread_id === primary ? [] : [`${event.type} ${event.id} is of another thread`];
  });
}

/** Thread idle, usage, session idle; and what was used never shrinks. */
function usagePrecedesIdle(history: readonly SessionEvent[]): string[] {
  let tokens = 0;
  return history.flatMap((event, index) => {
    if (event.type === 'session.usage') {
      const now = (event.usage.input_tokens ?? 0) + (event.usage.output_tokens ?? 0);
      const faults = now < tokens ? [`${event.type} ${event.id} tells less than the one before`] : [];
      tokens = now;
      return faults;
    }
    if (event.type !== 'session.status_idle') return [];
    return [
      ...expectBefore(history, index, 'session.usage'),
      ...expectBefore(history, index - 1, 'session.thread_status_idle'),
    ];
  });
}

/** `event_ids` are the calls that wait for the client just then, and no others. */
function idleNamesWhatBlocks(history: readonly SessionEvent[]): string[] {
  const waiting = new Set<string>();
  return history.flatMap((event) => {
    switch (event.type) {
      case 'agent.custom_tool_use':
        waiting.add(event.id);
        return [];
      case 'agent.tool_use':
        if (event.evaluated_permission === 'ask') waiting.add(event.id);
        return [];
      case 'user.tool_confirmation':
      case 'agent.tool_result':
        waiting.delete(event.tool_use_id);
        return [];
      case 'user.custom_tool_result':
        waiting.delete(event.custom_tool_use_id);
        return [];
      case 'session.status_idle': {
        const named = event.stop_reason.type === 'requires_action' ? event.stop_reason.event_ids : [];
        const isWrong = event.stop_reason.type !== 'budget_reached' && !isDeepStrictEqual(new Set(named), waiting);
        return isWrong ? [`${event.id} names [${named.join()}], but [${[...waiting].join()}] wait`] : [];
      }
      default:
        return [];
    }
  });
}

function errorsAreFollowedUp(history: readonly SessionEvent[]): string[] {
  return history.flatMap((event, index) => {
    if (event.type !== 'session.error') return [];
    const next = history.slice(index + 1).find(({ type }) => /^session\.status_(?!running)/.test(type));
    if (!next) return [];
    const retry = event.error.retry_status.type;
    const isRight =
      retry === 'retrying'
        ? next.type === 'session.status_rescheduled'
        : next.type === 'session.status_idle' && next.stop_reason.type === 'retries_exhausted';
    return isRight ? [] : [`session.error ${event.id} (${retry}) is followed by ${next.type}`];
  });
}

/** A stream brings a run of the history without gaps, up to its end, and each waiting event once before its place. */
export function streamFaults(history: readonly SessionEvent[], streamed: readonly StreamEvent[]): string[] {
  const events = streamed.filter((event): event is SessionEvent => 'processed_at' in event);
  const placed = events.filter((event) => event.processed_at != null);
  const listed = history.filter((event) => event.processed_at != null);
  const run = listed.slice(listed.findIndex((event) => event.id === placed[0]?.id));
  const faults = placed.flatMap((event, index) => {
    return isDeepStrictEqual(event, run[index]) ? [] : [`stream: ${event.type} ${event.id} is not ${run[index]?.id}`];
  });
  if (placed.length !== run.length) faults.push(`stream: ${placed.length} events, the list has ${run.length}`);
  return [...faults, ...waitingFaults(events)];
}

function waitingFaults(streamed: readonly SessionEvent[]): string[] {
  const seen = new Set<string>();
  return streamed.flatMap(({ id, type, processed_at: at }) => {
    const faults = at == null && seen.has(id) ? [`stream: ${type} ${id} waits after it was seen`] : [];
    seen.add(id);
    return faults;
  });
}
