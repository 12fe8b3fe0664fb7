import { BadRequestError } from '@anthropic-ai/sdk';
import { accumulateManagedAgentsEvent, type AccumulatedEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate';
import { describe, expect, it } from 'vitest';
import { textOf } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';
import { openRawStream } from '../support/raw-stream.ts';
import { StreamRecorder, type StreamEvent } from '../support/stream-recorder.ts';

describe('event streams', () => {
  const platform = usePlatform();

  it('resume after any message, without gap or repeat', async () => {
    const conversation = await platform.session();
    const raw = await openRawStream(platform.server, conversation.id);
    const read = raw.readUntil((message) => message.event === 'session.status_idle');
    await conversation.play([
      [
        { thinking: 'Hm.' },
        { tool: 'bash', input: { command: 'echo a' } },
        { tool: 'bash', input: { command: 'echo b' } },
      ],
      [{ text: 'Done.' }],
    ]);
    const messages = (await read).filter(({ event }) => event !== 'ping');
    expect(messages.every(({ id }) => /^\d+\.\d+$/.test(id ?? ''))).toBe(true);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
    for (const [index, { id }] of messages.entries()) {
      const rest = messages.slice(index + 1);
      if (rest.length === 0) break;
      const resumed = await openRawStream(platform.server, conversation.id, { lastEventId: id });
      expect(await resumed.readCount(rest.length)).toEqual(rest);
      resumed.close();
    }
  });

  it('resume also by the official client, while the turn goes on', async () => {
    const conversation = await platform.session();
    const raw = await openRawStream(platform.server, conversation.id);
    await conversation.start([
      [{ tool: 'bash', input: { command: 'echo a' } }],
      { blocks: [{ text: 'A longer answer that comes word by word.' }], tokenDelayMs: 20 },
    ]);
    const cutAt = await raw.readUntil((message) => message.event === 'agent.tool_use');
    raw.close();
    const resumed = await StreamRecorder.open(platform.client, conversation.id, {
      lastEventId: cutAt.at(-1)?.id as string,
    });
    await resumed.findType('session.status_idle');
    await resumed.close();
    const seen = [...cutAt.map(({ data }) => data as StreamEvent), ...resumed.events];
    expect(seen).toEqual(conversation.stream.events.slice(0, seen.length));
  });

  it.each(['x', '1', '-1.0', '999999999999999999999.1'])('refuse the position %j', async (lastEventId) => {
    const { id } = await platform.session();
    await expect(StreamRecorder.open(platform.client, id, { lastEventId })).rejects.toBeInstanceOf(BadRequestError);
  });

  it('preview a message as it is written, for the accumulator of the SDK', async () => {
    const conversation = await platform.session();
    const previews = await StreamRecorder.open(platform.client, conversation.id, { deltas: ['agent.message'] });
    const text = 'A message that arrives in a good number of pieces, each of them short.';
    await conversation.play([{ blocks: [{ text }], chunkChars: 5, tokenDelayMs: 2 }]);
    await previews.findType('session.status_idle');
    await previews.close();
    expect(previews.events.filter(({ type }) => type === 'event_delta').length).toBeGreaterThan(3);
    expectPrefixes(previews.events);
    const [listed] = await conversation.ofType('agent.message');
    const final = previews.events.reduce<AccumulatedEvent | undefined>(accumulateManagedAgentsEvent, undefined);
    expect(final).toEqual(listed);
    // Whoever did not ask for previews sees none.
    expect(conversation.stream.events.filter(({ type }) => type.startsWith('event_'))).toEqual([]);
  });

  it('preview several runs of text, and thinking by its start alone', async () => {
    const conversation = await platform.session();
    const deltas = ['agent.message', 'agent.thinking'] as const;
    const previews = await StreamRecorder.open(platform.client, conversation.id, { deltas: [...deltas] });
    await conversation.play([
      [
        { thinking: 'A thought.' },
        { text: 'First, let me look.' },
        { tool: 'bash', input: { command: 'echo 1' } },
        { text: 'And then this.' },
      ],
      [{ text: 'Done.' }],
    ]);
    await previews.findType('session.status_idle');
    await previews.close();
    expectPrefixes(previews.events);
    const started = previews.events.filter((event) => event.type === 'event_start').map(({ event }) => event);
    const listed = (await conversation.history()).filter(({ type }) => type === deltas[0] || type === deltas[1]);
    expect(new Set(started.map(({ id }) => id)).size).toBe(started.length);
    expect(started).toEqual(listed.map(({ id, type }) => ({ id, type })));
  });

  it('show what was already written to a stream that opens in the middle of a message', async () => {
    const conversation = await platform.session();
    const first = await StreamRecorder.open(platform.client, conversation.id, { deltas: ['agent.message'] });
    const text = 'word '.repeat(60).trim();
    await conversation.start([{ blocks: [{ text }], chunkChars: 5, tokenDelayMs: 20 }]);
    await first.findType('event_delta');
    const late = await StreamRecorder.open(platform.client, conversation.id, { deltas: ['agent.message'] });
    const [start, sofar] = [await late.findType('event_start'), await late.findType('event_delta')];
    expect(sofar).toMatchObject({ event_id: start.event.id });
    expect(text.startsWith(sofar.delta.content.text)).toBe(true);
    const message = await late.findType('agent.message');
    expect(message).toMatchObject({ id: start.event.id, content: [{ type: 'text', text }] });
    await late.findType('session.status_idle');
    expectPrefixes(late.events);
    await Promise.all([first.close(), late.close()]);
  });

  it('refuse previews of other events', async () => {
    const { id } = await platform.session();
    const open = (values: string[]) =>
      platform.client.beta.sessions.events.stream(id, { event_deltas: values as never });
    await expect(open(['agent.tool_use'])).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('event_deltas') as string,
    });
    await expect(open(Array.from({ length: 101 }, () => 'agent.message'))).rejects.toMatchObject({ status: 400 });
  });

  it('and lists leave no gap between them for a client that opens, lists, and reads on', async () => {
    const conversation = await platform.session();
    const turns = Array.from({ length: 15 }, (_, n) => [{ tool: 'bash', input: { command: `echo ${n}` } }]);
    await conversation.start([...turns, [{ text: 'Done.' }]]);
    for (let reader = 0; reader < 10; reader++) {
      const stream = await StreamRecorder.open(platform.client, conversation.id);
      const listed = (await conversation.history()).filter((event) => event.processed_at != null);
      const isOver = listed.at(-1)?.type === 'session.status_idle';
      if (!isOver) await stream.findType('session.status_idle');
      await stream.close();
      const seen = new Map(listed.map((event) => [event.id, event]));
      for (const event of stream.events) if ('processed_at' in event && event.processed_at) seen.set(event.id, event);
      await conversation.stream.findType('session.status_idle');
      const whole = await conversation.history();
      const upTo = isOver ? listed.length : whole.length;
      expect([...seen.keys()]).toEqual(whole.slice(0, upTo).map(({ id }) => id));
    }
  });

  it('on an archived session stay open for its deletion', async () => {
    const conversation = await platform.session();
    await conversation.play([[{ text: 'Hello.' }]]);
    await platform.client.beta.sessions.archive(conversation.id);
    const stream = await StreamRecorder.open(platform.client, conversation.id);
    await platform.client.beta.sessions.delete(conversation.id);
    await stream.findType('session.deleted');
    expect(await stream.ended).toBeUndefined();
  });
});

/** At every moment the previewed text is the beginning of the message's; the accumulator throws on what is out of order. */
function expectPrefixes(events: readonly StreamEvent[]): void {
  const finals = new Map(events.flatMap((event) => (event.type === 'agent.message' ? [[event.id, event]] : [])));
  let shown: AccumulatedEvent | undefined;
  for (const event of events) {
    shown = accumulateManagedAgentsEvent(shown, event);
    if (event.type !== 'event_delta' || !shown) continue;
    expect(shown.id).toBe(event.event_id);
    const final = finals.get(event.event_id);
    if (final) expect(textOf(final).startsWith(textOf(shown))).toBe(true);
  }
}
