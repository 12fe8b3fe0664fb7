/** The checker that judges every other file's histories, seen to fail. */
import { beforeAll, describe, expect, it } from 'vitest';
import { historyFaults, streamFaults } from '../support/history-checker.ts';
import { usePlatform } from '../support/platform.ts';
import type { SessionEvent } from '../support/stream-recorder.ts';

type Change = (history: SessionEvent[]) => SessionEvent[];

describe('the checker of histories', () => {
  const platform = usePlatform();
  let history: SessionEvent[];
  beforeAll(async () => {
    const conversation = await platform.sessionWithCustomTools(['lookup']);
    const bash = { tool: 'bash', input: { command: 'echo x' } };
    await conversation.play([[{ text: 'First.' }, bash, { tool: 'lookup', input: {} }], [{ text: 'Done.' }]]);
    const [call] = await conversation.ofType('agent.custom_tool_use');
    const answer = { type: 'user.custom_tool_result' as const, custom_tool_use_id: call?.id as string };
    await conversation.untilIdle(() => conversation.send(answer));
    history = await conversation.history();
  });

  const at = (type: string, events: SessionEvent[]) => events.findIndex((event) => event.type === type);
  const without =
    (type: string): Change =>
    (events) =>
      events.toSpliced(at(type, events), 1);
  const doubled =
    (type: string): Change =>
    (events) =>
      events.toSpliced(at(type, events), 0, { ...(events[at(type, events)] as SessionEvent), id: 'sevt_01copy' });
  const moved =
    (type: string, by: number): Change =>
    (events) => {
      const index = at(type, events);
      const [event] = events.slice(index, index + 1) as [SessionEvent];
      return events.toSpliced(index, 1).toSpliced(index + by, 0, event);
    };

  it('finds nothing in a good history, and in any beginning of one', () => {
    for (let length = 0; length <= history.length; length++)
      expect(historyFaults(history.slice(0, length))).toEqual([]);
  });

  it.each<[string, Change]>([
    ['a result that is missing', without('agent.tool_result')],
    ['a result that is there twice', doubled('agent.tool_result')],
    ["a client's result that is there twice", doubled('user.custom_tool_result')],
    ['a call without its event', without('agent.tool_use')],
    ['a call after its result', moved('agent.tool_use', 5)],
    ['an event listed twice', (events) => [...events, events[0] as SessionEvent]],
    ['a span without an end', without('span.model_request_end')],
    ['a span without a start', without('span.model_request_start')],
    ['an answer outside of its span', moved('agent.message', -2)],
    ['an idle without its usage', without('session.usage')],
    ['an idle without that of its thread', without('session.thread_status_idle')],
    ['an idle that is missing', without('session.status_idle')],
    [
      'an idle that is there twice',
      (events) => [...events, ...events.slice(-3).map((event) => ({ ...event, id: `${event.id}2` }))],
    ],
    ['a turn that did not begin', without('session.status_running')],
    ['a thread that did not begin', without('session.thread_status_running')],
    [
      'a message from the future',
      (events) => [{ ...(events[2] as SessionEvent), id: 'x', processed_at: '2100-01-01T00:00:00Z' }, ...events],
    ],
    ['an event after one that waits', (events) => events.with(2, { ...events[2], processed_at: null } as SessionEvent)],
  ])('finds %s', (_, change) => {
    expect(historyFaults(change([...history]))).not.toEqual([]);
  });

  it('finds what a stream left out, changed or repeated', () => {
    expect(streamFaults(history, history)).toEqual([]);
    expect(streamFaults(history, history.slice(3))).toEqual([]);
    expect(streamFaults(history, history.slice(0, -1))).not.toEqual([]);
    expect(streamFaults(history, without('agent.message')([...history]))).not.toEqual([]);
    expect(streamFaults(history, [...history, history.at(-1) as SessionEvent])).not.toEqual([]);
    const changed = history.with(5, { ...history[5], processed_at: '2000-01-01T00:00:00Z' } as SessionEvent);
    expect(streamFaults(history, changed)).not.toEqual([]);
  });
});
