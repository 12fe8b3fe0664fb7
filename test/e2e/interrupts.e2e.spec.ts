import { describe, expect, it } from 'vitest';
import { until } from '../support/conditions.ts';
import { hangingTurn, message, textOf } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';
import { StreamRecorder } from '../support/stream-recorder.ts';

const interrupt = { type: 'user.interrupt' as const };
const interruptedText = 'Tool execution was interrupted before completion. Please retry.';

describe('interrupts', () => {
  const platform = usePlatform();

  it('stop a model in the middle of its answer, and its connection is closed', async () => {
    const conversation = await platform.session();
    const previews = await StreamRecorder.open(platform.client, conversation.id, { deltas: ['agent.message'] });
    await conversation.start([{ blocks: [{ text: 'word '.repeat(10_000) }], tokenDelayMs: 10 }], 'interrupted-answer');
    await previews.findType('event_delta');
    let sent: unknown;
    const idle = await conversation.untilIdle(async () => ([sent] = await conversation.send(interrupt)));
    expect(sent).toMatchObject({ type: 'user.interrupt', processed_at: null });
    expect(idle.stop_reason.type).toBe('end_turn');
    const history = await conversation.history();
    expect(history.slice(-6).map(({ type }) => type)).toEqual([
      'span.model_request_start',
      'span.model_request_end',
      'user.interrupt',
      'session.thread_status_idle',
      'session.usage',
      'session.status_idle',
    ]);
    expect(history.at(-5)).toMatchObject({ is_error: true });
    await until('the model to lose its client', () => {
      const [request] = platform.model.requests.requests('interrupted-answer');
      return Promise.resolve(request?.abortedAt ?? null);
    });
    await previews.close();
  });

  it('stop a command that runs, and the sandbox serves the next call', async () => {
    const conversation = await platform.session();
    const command = 'touch started; sleep 600; touch finished';
    await conversation.start([[{ tool: 'bash', input: { command } }], [{ text: 'Never said.' }]]);
    await conversation.stream.findType('agent.tool_use');
    await conversation.stream.findType('span.model_request_end');
    const idle = await conversation.untilIdle(() => conversation.send(interrupt));
    expect(idle.stop_reason.type).toBe('end_turn');
    const [result] = await conversation.ofType('agent.tool_result');
    expect(result).toMatchObject({ is_error: true });
    expect(textOf(result as object)).toBe(interruptedText);
    const next = [
      [{ tool: 'bash', input: { command: 'ls; pgrep -x sleep || echo nobody sleeps' } }],
      [{ text: 'Ok.' }],
    ];
    await conversation.play(next);
    const after = textOf((await conversation.ofType('agent.tool_result')).at(-1) as object);
    expect(after).not.toContain('finished');
    expect(after).toContain('nobody sleeps');
  });

  it('stop calls that have not begun, each with its own result', async () => {
    const conversation = await platform.session();
    const calls = ['sleep 600', 'echo b', 'echo c'].map((command) => ({ tool: 'bash', input: { command } }));
    await conversation.start([calls, [{ text: 'Never said.' }]]);
    await conversation.stream.findType('span.model_request_end');
    await conversation.untilIdle(() => conversation.send(interrupt));
    const results = await conversation.ofType('agent.tool_result');
    expect(results.map(textOf)).toEqual([interruptedText, interruptedText, interruptedText]);
  });

  it('close what waits for the client', async () => {
    const conversation = await platform.sessionThatAsks(['bash']);
    const idle = await conversation.play([[{ tool: 'bash', input: { command: 'echo x' } }], [{ text: 'Never said.' }]]);
    expect(idle.stop_reason.type).toBe('requires_action');
    const closed = await conversation.untilIdle(() => conversation.send(interrupt));
    expect(closed.stop_reason.type).toBe('end_turn');
    const history = await conversation.history();
    expect(history.slice(-5).map(({ type }) => type)).toEqual([
      'user.interrupt',
      'agent.tool_result',
      'session.thread_status_idle',
      'session.usage',
      'session.status_idle',
    ]);
    expect(history.at(-4)).toMatchObject({ is_error: true });
    const again = await conversation.play([[{ text: 'Something else.' }]]);
    expect(again.stop_reason.type).toBe('end_turn');
  });

  it('close custom calls too, and a late answer is refused', async () => {
    const conversation = await platform.sessionWithCustomTools(['lookup']);
    await conversation.play([[{ tool: 'lookup', input: {} }], [{ text: 'Never said.' }]]);
    const [call] = await conversation.ofType('agent.custom_tool_use');
    await conversation.untilIdle(() => conversation.send(interrupt));
    const result = { type: 'user.custom_tool_result' as const, custom_tool_use_id: call?.id as string };
    await expect(conversation.send(result)).rejects.toMatchObject({ status: 400 });
    const [closed] = await conversation.ofType('user.custom_tool_result');
    expect(closed).toMatchObject({ is_error: true, custom_tool_use_id: call?.id });
  });

  it('overtake what waits, and a message beside the interrupt starts the next turn', async () => {
    const conversation = await platform.session();
    await conversation.start([hangingTurn('After all.')]);
    await conversation.stream.findType('span.model_request_start');
    await conversation.say('Waiting.');
    await conversation.send(interrupt, message('Now this.'));
    await until('the answer', async () => (await conversation.answers()).length === 1);
    await until('the session to be idle', async () => (await conversation.session()).status === 'idle');
    const shown = (await conversation.history()).flatMap((event) => {
      if (event.type === 'user.message') return [textOf(event).slice(0, 8)];
      return event.type === 'user.interrupt' || event.type === 'session.status_idle' ? [event.type] : [];
    });
    expect(shown).toEqual([
      '#script ',
      'user.interrupt',
      'session.status_idle',
      'Waiting.',
      'Now this',
      'session.status_idle',
    ]);
  });

  it('do nothing to an idle session but being listed', async () => {
    const conversation = await platform.session();
    await conversation.play([[{ text: 'Hello.' }]]);
    const before = await conversation.history();
    await conversation.send(interrupt);
    const after = await conversation.history();
    expect(after.slice(0, -1)).toEqual(before);
    expect(after.at(-1)?.type).toBe('user.interrupt');
    expect((await conversation.session()).status).toBe('idle');
  });

  it('may name the primary thread, and no other', async () => {
    const conversation = await platform.session();
    const [thread] = (await platform.client.beta.sessions.threads.list(conversation.id)).data;
    await conversation.start([hangingTurn('Late.')]);
    await conversation.stream.findType('span.model_request_start');
    await expect(conversation.send({ ...interrupt, session_thread_id: 'sthr_01other' })).rejects.toMatchObject({
      status: 404,
    });
    await conversation.untilIdle(() => conversation.send({ ...interrupt, session_thread_id: thread?.id as string }));
  });
});
