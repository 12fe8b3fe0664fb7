/** Whether a session did what its rounds asked for: everything once, nothing twice, nothing else. */
import { isDeepStrictEqual } from 'node:util';
import { textOf } from './conversation.ts';
import type { CommandCounts } from './hand-files.ts';
import { lastWords, type PlannedCall, type Round } from './rounds.ts';
import type { SessionDriver } from './session-driver.ts';
import type { EventOf, SessionEvent } from './stream-recorder.ts';

type Use = EventOf<'agent.tool_use'> | EventOf<'agent.custom_tool_use'>;

interface Played {
  driver: SessionDriver;
  history: readonly SessionEvent[];
  counts: CommandCounts;
}

export function playFaults(played: Played): string[] {
  const { driver, history } = played;
  return [
    ...driver.acknowledged.flatMap((event) => acknowledgedFaults(event, history)),
    ...driver.rounds.flatMap((round) => roundFaults(round, played)),
    ...endFaults(history),
  ];
}

/** Whatever the server acknowledged is in the history, once and as it was told. */
function acknowledgedFaults(told: SessionEvent, history: readonly SessionEvent[]): string[] {
  const found = history.filter((event) => event.id === told.id);
  if (found.length !== 1) return [`${told.type} ${told.id} was acknowledged and is there ${found.length} times`];
  const withoutPlace = (event: SessionEvent | undefined) => event && { ...event, processed_at: null };
  return isDeepStrictEqual(withoutPlace(told), withoutPlace(found[0]))
    ? []
    : [`${told.type} ${told.id} is not what was acknowledged`];
}

function roundFaults(round: Round, played: Played): string[] {
  const { history } = played;
  const mayBeCut = isCut(round, played.driver.rounds);
  const messages = history.filter((event) => event.type === 'user.message' && textOf(event).includes(round.id)).length;
  const ends = history.filter((event) => event.type === 'agent.message' && textOf(event) === lastWords(round)).length;
  const faults = round.calls.flatMap((call) => callFaults(call, mayBeCut, played));
  if (messages !== 1) faults.push(`the message of ${round.id} is there ${messages} times`);
  if (mayBeCut ? ends > 1 : ends !== 1) faults.push(`${round.id} ended ${ends} times`);
  return faults;
}

/** An interrupt may meet every round since the last one that was waited for. */
function isCut(round: Round, rounds: readonly Round[]): boolean {
  const later = rounds.slice(rounds.indexOf(round));
  return later.find(({ end }) => end !== 'go-on')?.end === 'interrupt';
}

function callFaults(call: PlannedCall, mayBeCut: boolean, { history, counts }: Played): string[] {
  const { mark } = call;
  const uses = history.filter(
    (event): event is Use =>
      (event.type === 'agent.tool_use' || event.type === 'agent.custom_tool_use') && event.input['mark'] === mark,
  );
  const starts = counts.starts(mark);
  const faults = starts > 1 ? [`the command of ${mark} ran ${starts} times`] : [];
  const [use] = uses;
  if (mayBeCut && !use) return faults;
  if (!use || uses.length > 1) return [...faults, `the call ${mark} is there ${uses.length} times`];
  const results = resultsOf(use, history);
  const [result] = results;
  if (!result || results.length > 1) return [...faults, `the call ${mark} has ${results.length} results`];
  const text = textOf(result);
  if (mayBeCut && text.startsWith('Tool execution was interrupted')) return faults;
  if ((result.is_error ?? false) !== call.isError || !text.includes(call.expected)) {
    faults.push(`the call ${mark} was answered: ${text}`);
  }
  const expectedRuns = call.counts && !call.isError ? 1 : 0;
  if (starts !== expectedRuns || counts.ends(mark) !== expectedRuns) {
    faults.push(`the command of ${mark} began ${starts} times and ended ${counts.ends(mark)} times`);
  }
  return faults;
}

function resultsOf(use: Use, history: readonly SessionEvent[]) {
  return history.filter(
    (event) =>
      (event.type === 'agent.tool_result' && event.tool_use_id === use.id) ||
      (event.type === 'user.custom_tool_result' && event.custom_tool_use_id === use.id),
  ) as (EventOf<'agent.tool_result'> | EventOf<'user.custom_tool_result'>)[];
}

/** The last that a session says of itself, an archive apart. */
function endFaults(history: readonly SessionEvent[]): string[] {
  const idle = history.findLast((event) => event.type === 'session.status_idle');
  if (idle?.stop_reason.type !== 'end_turn') return [`it ended with ${idle?.stop_reason.type ?? 'no idle'}`];
  const waiting = history.filter((event) => event.processed_at == null).length;
  return waiting > 0 ? [`${waiting} events still wait`] : [];
}
