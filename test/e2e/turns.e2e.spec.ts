import { describe, expect, it } from 'vitest';
import { hangingTurn, message, textOf } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';
import { until } from '../support/conditions.ts';
import { StreamRecorder, type SessionEvent } from '../support/stream-recorder.ts';

const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);

describe('turns of a session', () => {
  const platform = usePlatform();

  it('have their events in the order of the contract', async () => {
    const conversation = await platform.session();
    await conversation.play([
      [{ thinking: 'Let me look.' }, { text: 'One moment.' }, { tool: 'bash', input: { command: 'echo 4' } }],
      [{ text: 'Four.' }],
    ]);
    expect(typesOf(await conversation.history())).toEqual([
      'session.status_running',
      'session.thread_status_running',
      'user.message',
      'span.model_request_start',
      'agent.thinking',
      'agent.message',
      'agent.tool_use',
      'span.model_request_end',
      'agent.tool_result',
      'span.model_request_start',
      'agent.message',
      'span.model_request_end',
      'session.thread_status_idle',
      'session.usage',
      'session.status_idle',
    ]);
    expect(typesOf(conversation.stream.events.slice(0, 2))).toEqual(['user.message', 'session.status_running']);
    expect(conversation.stream.events[0]).toMatchObject({ processed_at: null });
  });

  it('show the model what was said, and its system prompt', async () => {
    const agent = await platform.agent({ system: 'You count things.' });
    const conversation = await platform.session({ agent: agent.id });
    await conversation.play([[{ text: 'First answer.' }]], 'first');
    await conversation.untilIdle(() => conversation.say('And again?'));
    const request = platform.model.requests.bodies('first').at(-1);
    expect(JSON.stringify(request?.system)).toContain('You count things.');
    expect(request?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(request?.messages)).toContain('And again?');
  });

  it('add up what was used, on the event and on the session', async () => {
    const conversation = await platform.session();
    const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 7 };
    await conversation.play([{ blocks: [{ text: 'One.' }], usage }]);
    await conversation.play([{ blocks: [{ text: 'Two.' }], usage }]);
    const [end] = await conversation.ofType('span.model_request_end');
    expect(end).toMatchObject({ is_error: false, model_usage: usage });
    const last = (await conversation.ofType('session.usage')).at(-1);
    const sum = { input_tokens: 200, output_tokens: 40, cache_read_input_tokens: 14 };
    expect(last?.usage).toMatchObject(sum);
    const session = await conversation.session();
    expect(session.usage).toMatchObject({ ...sum, list_cost: { currency: 'USD' } });
    const [thread] = (await platform.client.beta.sessions.threads.list(conversation.id)).data;
    expect(thread?.usage).toMatchObject(sum);
  });

  it('have one thread, whose events and stream are those of the session', async () => {
    const conversation = await platform.session();
    const { threads } = platform.client.beta.sessions;
    const [primary, ...others] = (await threads.list(conversation.id)).data;
    if (!primary) throw new Error('there is no primary thread');
    expect(others).toEqual([]);
    expect(primary).toMatchObject({ type: 'session_thread', status: 'idle', parent_thread_id: null });
    const stream = await threads.events.stream(primary.id, { session_id: conversation.id });
    await conversation.play([[{ text: 'Hello.' }]]);
    const streamed: unknown[] = [];
    for await (const event of stream) {
      streamed.push(event);
      if (event.type === 'session.status_idle') break;
    }
    expect(streamed).toEqual(conversation.stream.events.slice(0, streamed.length));
    const listed: SessionEvent[] = [];
    for await (const event of threads.events.list(primary.id, { session_id: conversation.id, limit: 4 })) {
      listed.push(event);
    }
    expect(listed).toEqual(await conversation.history());
    expect(await threads.retrieve(primary.id, { session_id: conversation.id })).toMatchObject({ id: primary.id });
    const running = (await conversation.ofType('session.thread_status_running'))[0];
    expect(running?.session_thread_id).toBe(primary.id);
    await expect(threads.archive(primary.id, { session_id: conversation.id })).rejects.toMatchObject({ status: 400 });
    await expect(threads.retrieve('sthr_01none', { session_id: conversation.id })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('take all messages that waited together, and answer them once', async () => {
    const conversation = await platform.session();
    await conversation.start([{ blocks: [{ text: 'Working.' }], tokenDelayMs: 40 }], 'queued');
    await conversation.stream.findType('span.model_request_start');
    const idle = await conversation.untilIdle(() => conversation.send(message('Two.'), message('Three.')));
    expect(idle.stop_reason.type).toBe('end_turn');
    const history = await conversation.history();
    expect(history.filter(({ type }) => type === 'span.model_request_start')).toHaveLength(2);
    const second = history.findLastIndex(({ type }) => type === 'span.model_request_start');
    expect(typesOf(history.slice(second - 2, second))).toEqual(['user.message', 'user.message']);
    const texts = JSON.stringify(platform.model.requests.bodies('queued').at(-1)?.messages.at(-1));
    expect(texts).toContain('Two.');
    expect(texts).toContain('Three.');
  });

  it('let a hundred messages wait and refuse the next, while an interrupt is never refused', async () => {
    const conversation = await platform.session();
    await conversation.start([hangingTurn('Late.')]);
    await conversation.stream.findType('span.model_request_start');
    for (let n = 0; n < 100; n++) await conversation.say(`Message ${n}.`);
    const refused = await conversation.say('One too many.').catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 429, type: 'rate_limit_error' });
    await conversation.untilIdle(() => conversation.send({ type: 'user.interrupt' }));
    // The interrupt ends the first turn; what waited is answered in one that follows.
    await until('the second turn', async () => (await conversation.answers()).length === 1 || null);
    await until('the session to be idle', async () => (await conversation.session()).status === 'idle' || null);
    const messages = await conversation.ofType('user.message');
    expect(messages).toHaveLength(101);
    expect(messages.slice(1).map(textOf)).toEqual(Array.from({ length: 100 }, (_, n) => `Message ${n}.`));
  });

  it('end in a refusal with its details, and the session takes the next message', async () => {
    const conversation = await platform.session();
    const refusal = { category: 'cyber', explanation: 'Not this.' };
    const idle = await conversation.play([{ blocks: [{ text: 'No.' }], stopReason: 'refusal', refusal }]);
    expect(idle).toMatchObject({
      stop_reason: { type: 'refusal' },
      stop_details: { type: 'refusal', category: 'cyber', explanation: 'Not this.' },
    });
    expect((await conversation.session()) as object).toMatchObject({ stop_reason: { type: 'refusal' } });
    const next = await conversation.untilIdle(() => conversation.say('Then something else.'));
    expect(next.stop_reason.type).toBe('end_turn');
  });

  it('take a system message beside the messages, for models that know such', async () => {
    const agent = await platform.agent({ model: 'claude-opus-4-8' });
    const conversation = await platform.session({ agent: agent.id });
    const system = {
      type: 'system.message' as const,
      content: [{ type: 'text' as const, text: 'The user is in Rome.' }],
    };
    await conversation.play([[{ text: 'Fine.' }]], 'system-message');
    await conversation.untilIdle(() => conversation.send(message('Where am I?'), system));
    const [stored] = await conversation.ofType('system.message');
    expect(stored).toMatchObject({ content: [{ type: 'text', text: 'The user is in Rome.' }] });
    const shown = platform.model.requests.bodies('system-message').at(-1);
    expect(JSON.stringify(shown?.messages)).toContain('The user is in Rome.');
    await expect(conversation.send(system, message('Late.'))).rejects.toMatchObject({ status: 400 });
  });

  it('are seen by every stream of a session alike', async () => {
    const conversation = await platform.session();
    const others = await Promise.all(
      Array.from({ length: 5 }, () => StreamRecorder.open(platform.client, conversation.id)),
    );
    await conversation.play([[{ tool: 'bash', input: { command: 'echo x' } }], [{ text: 'Done.' }]]);
    for (const other of others) {
      await other.findType('session.status_idle');
      expect(other.events).toEqual(conversation.stream.events);
      await other.close();
    }
  });
});
