import { BadRequestError } from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { describe, expect, it } from 'vitest';
import { textOf, type EventParams } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';
import type { StreamEvent } from '../support/stream-recorder.ts';

const answer = (id: string, text?: string, isError?: boolean): EventParams => ({
  type: 'user.custom_tool_result',
  custom_tool_use_id: id,
  ...(text !== undefined && { content: [{ type: 'text', text }] }),
  ...(isError !== undefined && { is_error: isError }),
});
const call = (tool: string, input: Record<string, unknown> = {}) => ({ tool, input });

describe('custom tools', () => {
  const platform = usePlatform();

  it('are answered by the client, and the model sees the answer', async () => {
    const conversation = await platform.sessionWithCustomTools(['lookup']);
    const idle = await conversation.play([[call('lookup', { key: 'k' })], [{ text: 'Done.' }]], 'custom');
    const [use] = await conversation.ofType('agent.custom_tool_use');
    expect(use).toMatchObject({ name: 'lookup', input: { key: 'k' } });
    expect(use).not.toHaveProperty('evaluated_permission');
    expect(idle.stop_reason).toEqual({ type: 'requires_action', event_ids: [use?.id] });
    let sent: unknown;
    const end = await conversation.untilIdle(async () => {
      [sent] = await conversation.send(answer(use?.id as string, 'forty-two'));
    });
    expect(end.stop_reason.type).toBe('end_turn');
    expect(sent).toMatchObject({ custom_tool_use_id: use?.id, processed_at: expect.any(String) as string });
    const shown = platform.model.requests.bodies('custom').at(-1)?.messages.at(-1);
    expect(JSON.stringify(shown)).toContain('forty-two');
  });

  it('may be answered with an error, or with nothing', async () => {
    const conversation = await platform.sessionWithCustomTools(['a', 'b']);
    await conversation.play([[call('a'), call('b')], [{ text: 'Done.' }]], 'custom-errors');
    const [a, b] = (await conversation.ofType('agent.custom_tool_use')).map(({ id }) => id) as [string, string];
    await conversation.untilIdle(() => conversation.send(answer(a, 'It broke.', true), answer(b)));
    const results = platform.model.requests.bodies('custom-errors').at(-1)?.messages.at(-1)?.content;
    expect(results).toMatchObject([{ type: 'tool_result', is_error: true }, { type: 'tool_result' }]);
    const [first, second] = await conversation.ofType('user.custom_tool_result');
    expect([first?.is_error, textOf(first as object)]).toEqual([true, 'It broke.']);
    expect(textOf(second as object)).toBe('');
  });

  it('may be answered one by one, in any order', async () => {
    const conversation = await platform.sessionWithCustomTools(['a', 'b', 'c']);
    await conversation.play([[call('a'), call('b'), call('c')], [{ text: 'Done.' }]]);
    const [a, b, c] = (await conversation.ofType('agent.custom_tool_use')).map(({ id }) => id) as [
      string,
      string,
      string,
    ];
    const left = async (id: string) =>
      (await conversation.untilIdle(() => conversation.send(answer(id, 'x')))).stop_reason;
    expect(await left(c)).toEqual({ type: 'requires_action', event_ids: [a, b] });
    expect(await left(a)).toEqual({ type: 'requires_action', event_ids: [b] });
    expect(await left(b)).toEqual({ type: 'end_turn' });
    await expect(conversation.send(answer(b, 'again'))).rejects.toBeInstanceOf(BadRequestError);
  });

  it('may be shared by several clients, each with its own tools and its own stream', async () => {
    const names = ['north', 'south', 'east'];
    const conversation = await platform.sessionWithCustomTools(names);
    const serve = async (name: string): Promise<number> => {
      const client = platform.server.client();
      const stream = await client.beta.sessions.events.stream(conversation.id);
      let served = 0;
      for await (const event of stream) {
        if (isCallOf(event, name)) {
          await client.beta.sessions.events.send(conversation.id, { events: [answer(event.id, `${name}!`)] });
          served += 1;
        }
        if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break;
      }
      return served;
    };
    const servers = names.map(serve);
    const round = names.map((name) => call(name));
    await conversation.start([round, [call('north'), call('south')], round, [{ text: 'Done.' }]]);
    expect(await Promise.all(servers)).toEqual([3, 3, 2]);
    expect(await conversation.answers()).toEqual(['Done.']);
  });

  it('and built-in tools of one answer: those run, then the client is asked', async () => {
    const conversation = await platform.sessionWithCustomTools(['lookup']);
    const bash = { tool: 'bash', input: { command: 'sleep 0.3; echo late' } };
    const idle = await conversation.play([[call('lookup'), bash], [{ text: 'Done.' }]]);
    const [use] = await conversation.ofType('agent.custom_tool_use');
    expect(idle.stop_reason).toEqual({ type: 'requires_action', event_ids: [use?.id] });
    expect((await conversation.ofType('agent.tool_result')).map(textOf).join()).toContain('late');
    await conversation.untilIdle(() => conversation.send(answer(use?.id as string, 'x')));
  });

  it('answered before the built-in call is done keep the session running', async () => {
    const conversation = await platform.sessionWithCustomTools(['lookup']);
    const bash = { tool: 'bash', input: { command: 'while [ ! -e go ]; do sleep 0.05; done; echo went' } };
    await conversation.start([[call('lookup'), bash], [{ text: 'Done.' }]]);
    const use = await conversation.stream.findType('agent.custom_tool_use');
    await conversation.stream.findType('span.model_request_end');
    await conversation.send(answer(use.id, 'early'));
    // Nobody can make the file from outside; the interrupt ends the wait.
    const idle = await conversation.untilIdle(() => conversation.send({ type: 'user.interrupt' }));
    expect(idle.stop_reason.type).toBe('end_turn');
    expect(await conversation.ofType('session.status_idle')).toHaveLength(1);
  });

  it("are run by the SDK's own tool runner", async () => {
    const conversation = await platform.sessionWithCustomTools(['add', 'fail']);
    const add = betaTool({
      name: 'add',
      description: 'Adds.',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      run: ({ a, b }) => String(a + b),
    });
    const fail = betaTool({
      name: 'fail',
      description: 'Fails.',
      inputSchema: { type: 'object' },
      run: () => Promise.reject(new Error('It broke.')),
    });
    const runner = platform.client.beta.sessions.events.toolRunner(conversation.id, {
      tools: [add, fail],
      maxIdleMs: 50,
    });
    const sums = [1, 2, 3].map((n) => call('add', { a: n, b: n }));
    await conversation.start([sums, [call('fail'), call('add', { a: 20, b: 22 })], [{ text: 'Done.' }]]);
    const posted: string[] = [];
    for await (const { name, isError, posted: isPosted } of runner) {
      posted.push(`${name}${isError ? '!' : ''}`);
      expect(isPosted).toBe(true);
    }
    expect(posted.sort()).toEqual(['add', 'add', 'add', 'add', 'fail!']);
    expect(await conversation.answers()).toEqual(['Done.']);
    expect((await conversation.ofType('user.custom_tool_result')).map(textOf).sort()).toContain('42');
  });

  it('take images and documents as answers', async () => {
    const conversation = await platform.sessionWithCustomTools(['shot']);
    await conversation.play([[call('shot')], [{ text: 'Nice.' }]], 'custom-image');
    const [use] = await conversation.ofType('agent.custom_tool_use');
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const image = { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png', data: pixel } };
    await conversation.untilIdle(() =>
      conversation.send({ type: 'user.custom_tool_result', custom_tool_use_id: use?.id as string, content: [image] }),
    );
    const [stored] = await conversation.ofType('user.custom_tool_result');
    expect(stored?.content).toEqual([image]);
    expect(JSON.stringify(platform.model.requests.bodies('custom-image').at(-1)?.messages)).toContain(pixel);
  });
});

function isCallOf(event: StreamEvent, name: string): event is Extract<StreamEvent, { type: 'agent.custom_tool_use' }> {
  return event.type === 'agent.custom_tool_use' && event.name === name;
}
