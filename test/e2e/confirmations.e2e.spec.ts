import { BadRequestError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { until } from '../support/conditions.ts';
import { message, textOf, type EventParams } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';

const confirm = (id: string, result: 'allow' | 'deny' = 'allow', denyMessage?: string): EventParams => ({
  type: 'user.tool_confirmation',
  tool_use_id: id,
  result,
  ...(denyMessage !== undefined && { deny_message: denyMessage }),
});

describe('confirmations of tool calls', () => {
  const platform = usePlatform();
  const echo = (word: string) => ({ tool: 'bash', input: { command: `echo ${word}` } });

  it('let a call run that waited', async () => {
    const conversation = await platform.sessionThatAsks(['bash']);
    const idle = await conversation.play([[echo('yes')], [{ text: 'Done.' }]]);
    const [call] = await conversation.ofType('agent.tool_use');
    expect(call).toMatchObject({ evaluated_permission: 'ask', evaluation: { type: 'always_ask' } });
    expect(idle.stop_reason).toEqual({ type: 'requires_action', event_ids: [call?.id] });
    expect((await conversation.session()) as object).toMatchObject({ stop_reason: idle.stop_reason });
    const end = await conversation.untilIdle(() => conversation.send(confirm(call?.id as string)));
    expect(end.stop_reason.type).toBe('end_turn');
    const history = await conversation.history();
    const at = history.findIndex(({ type }) => type === 'user.tool_confirmation');
    expect(history.slice(at, at + 4).map(({ type }) => type)).toEqual([
      'user.tool_confirmation',
      'session.status_running',
      'session.thread_status_running',
      'agent.tool_result',
    ]);
    expect(textOf(history[at + 3] as object)).toContain('yes');
  });

  it('deny a call, and the model is told why', async () => {
    const conversation = await platform.sessionThatAsks(['bash']);
    await conversation.play([[echo('no')], [{ text: 'I see.' }]], 'denied');
    const [call] = await conversation.ofType('agent.tool_use');
    await conversation.untilIdle(() => conversation.send(confirm(call?.id as string, 'deny', 'Not on a Friday.')));
    const [result] = await conversation.ofType('agent.tool_result');
    expect(result).toMatchObject({ is_error: true, tool_use_id: call?.id });
    expect(textOf(result as object)).toContain('Not on a Friday.');
    expect(textOf(result as object)).not.toContain('no\n');
    const told = JSON.stringify(platform.model.requests.bodies('denied').at(-1)?.messages.at(-1));
    expect(told).toContain('Not on a Friday.');
  });

  it('come several in one request, each with its own verdict', async () => {
    const conversation = await platform.sessionThatAsks(['bash']);
    const idle = await conversation.play([[echo('a'), echo('b'), echo('c')], [{ text: 'Done.' }]]);
    const [a, b, c] = (await conversation.ofType('agent.tool_use')).map(({ id }) => id) as [string, string, string];
    expect(idle.stop_reason).toEqual({ type: 'requires_action', event_ids: [a, b, c] });
    const end = await conversation.untilIdle(() => conversation.send(confirm(a), confirm(b, 'deny'), confirm(c)));
    expect(end.stop_reason.type).toBe('end_turn');
    const results = await conversation.ofType('agent.tool_result');
    const byCall = new Map(results.map((result) => [result.tool_use_id, result]));
    expect([a, b, c].map((id) => byCall.get(id)?.is_error ?? false)).toEqual([false, true, false]);
  });

  it('may come one by one; what is left is told again', async () => {
    const conversation = await platform.sessionThatAsks(['bash']);
    await conversation.play([[echo('a'), echo('b')], [{ text: 'Done.' }]]);
    const [a, b] = (await conversation.ofType('agent.tool_use')).map(({ id }) => id) as [string, string];
    const partial = await conversation.untilIdle(() => conversation.send(confirm(b)));
    expect(partial.stop_reason).toEqual({ type: 'requires_action', event_ids: [a] });
    expect(await conversation.ofType('session.status_running')).toHaveLength(1);
    const end = await conversation.untilIdle(() => conversation.send(confirm(a)));
    expect(end.stop_reason.type).toBe('end_turn');
    // They run in the order in which they were allowed.
    expect((await conversation.ofType('agent.tool_result')).map(({ tool_use_id }) => tool_use_id)).toEqual([b, a]);
  });

  it('leave calls alone that need none: those run first', async () => {
    const conversation = await platform.sessionThatAsks(['write']);
    const write = { tool: 'write', input: { file_path: 'x.txt', content: 'x' } };
    await conversation.play([[{ tool: 'bash', input: { command: 'ls' } }, write], [{ text: 'Done.' }]]);
    const results = await conversation.ofType('agent.tool_result');
    const [bash, asked] = await conversation.ofType('agent.tool_use');
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual([bash?.id]);
    expect(bash).toMatchObject({ evaluated_permission: 'allow', evaluation: { type: 'always_allow' } });
    const wrong = confirm(bash?.id as string);
    await expect(conversation.send(wrong)).rejects.toBeInstanceOf(BadRequestError);
    await conversation.untilIdle(() => conversation.send(confirm(asked?.id as string)));
  });

  it('are refused where nothing asks, and then nothing of their request is taken', async () => {
    const conversation = await platform.sessionThatAsks(['bash']);
    await conversation.play([[echo('a')], [{ text: 'Done.' }]]);
    const [call] = await conversation.ofType('agent.tool_use');
    const id = call?.id as string;
    const before = await conversation.history();
    for (const events of [
      [confirm('sevt_01unknown')],
      [confirm(id), confirm(id)],
      [confirm(id), confirm('sevt_01unknown')],
      [{ type: 'user.custom_tool_result' as const, custom_tool_use_id: id }],
      [message('Go on!')],
      [confirm(id, 'allow', 'A message with an allow.')],
    ]) {
      await expect(conversation.send(...events)).rejects.toBeInstanceOf(BadRequestError);
    }
    expect(await conversation.history()).toEqual(before);
    await conversation.untilIdle(() => conversation.send(confirm(id)));
    await expect(conversation.send(confirm(id))).rejects.toBeInstanceOf(BadRequestError);
  });

  it('are asked for where the policy is auto, as nobody here can judge', async () => {
    const tools = [
      { type: 'agent_toolset_20260401' as const, default_config: { permission_policy: { type: 'auto' as const } } },
    ];
    const agent = await platform.agent({ tools });
    const conversation = await platform.session({ agent: agent.id });
    await conversation.play([[echo('a')], [{ text: 'Done.' }]]);
    const [call] = await conversation.ofType('agent.tool_use');
    expect(call).toMatchObject({
      evaluated_permission: 'ask',
      evaluation: { type: 'auto', evaluated_permission: { type: 'ask', reason_code: 'indeterminate' } },
    });
    await conversation.untilIdle(() => conversation.send(confirm(call?.id as string)));
  });

  it('wait as long as it takes, over a restart of the server', async () => {
    const conversation = await platform.sessionThatAsks(['bash'], { record: false });
    await conversation.start([[echo('later')], [{ text: 'Done.' }]]);
    const waiting = async () => (await conversation.session()).status === 'idle';
    await until('the session to wait', waiting);
    await platform.server.stop();
    await platform.server.start();
    const [call] = await conversation.ofType('agent.tool_use');
    await conversation.send(confirm(call?.id as string));
    await until('the answer', async () => (await conversation.answers()).includes('Done.'));
    await until('the session to be idle', waiting);
  });
});
