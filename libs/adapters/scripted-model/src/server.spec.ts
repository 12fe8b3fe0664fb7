import Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoggedRequest } from './request-log.ts';
import { script, type ScriptTurnInput } from './script.ts';
import { startScriptedModel, type ScriptedModel } from './server.ts';

describe('the scripted model, by the official client', () => {
  let server: ScriptedModel;
  let client: Anthropic;
  beforeEach(async () => {
    server = await startScriptedModel({ contextWindowTokens: 5000 });
    client = new Anthropic({ apiKey: 'test', baseURL: server.baseUrl, maxRetries: 0 });
  });
  afterEach(() => server.close());

  const params = (turns: ScriptTurnInput[], id?: string) => ({
    model: 'scripted-1',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: script(turns, id) }],
  });

  it('answers whole and streamed alike, and a repeated request like the first', async () => {
    const turn = [{ thinking: 'Hm, 二.' }, { text: 'Hello 🦊, hello.' }, { tool: 'bash', input: { command: 'ls' } }];
    const asked = params([turn]);
    const whole = await client.messages.create(asked);
    const streamed = await client.messages.stream(asked).finalMessage();
    expect(whole.content.map((block) => block.type)).toEqual(['thinking', 'text', 'tool_use']);
    expect(whole.content[2]).toMatchObject({ name: 'bash', input: { command: 'ls' } });
    expect(whole.stop_reason).toBe('tool_use');
    expect(streamed).toMatchObject({ id: whole.id, content: whole.content, stop_reason: whole.stop_reason });
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
  });

  it('counts what the marks would have cached', async () => {
    const marked = { type: 'text' as const, cache_control: { type: 'ephemeral' as const } };
    const ask = async (messages: Anthropic.MessageParam[]) =>
      (await client.messages.create({ model: 'scripted-1', max_tokens: 100, messages })).usage;
    const first = await ask([{ role: 'user', content: [{ ...marked, text: 'x'.repeat(400) }] }]);
    expect(first.cache_read_input_tokens).toBe(0);
    expect(first.cache_creation_input_tokens).toBeGreaterThan(100);
    const second = await ask([
      { role: 'user', content: 'x'.repeat(400) },
      { role: 'assistant', content: 'y' },
      { role: 'user', content: [{ ...marked, text: 'z' }] },
    ]);
    expect(second.cache_read_input_tokens).toBeGreaterThan(100);
    expect(second.cache_creation_input_tokens).toBeLessThan(60);
  });

  it('counts the faults of each script on its own', async () => {
    const faulty = { blocks: [{ text: 'at last' }], faults: [{ kind: 'status' as const, status: 529, times: 2 }] };
    for (const id of ['a', 'b']) {
      await expect(client.messages.create(params([faulty], id))).rejects.toMatchObject({ status: 529 });
      await expect(client.messages.create(params([faulty], id))).rejects.toMatchObject({ type: 'overloaded_error' });
      expect((await client.messages.create(params([faulty], id))).content).toMatchObject([{ text: 'at last' }]);
    }
  });

  it('refuses what the real API refuses', async () => {
    const ask = (content: string) =>
      client.messages.create({ model: 'scripted-1', max_tokens: 100, messages: [{ role: 'user', content }] });
    await expect(ask(' ')).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' });
    await expect(ask('x'.repeat(30_000))).rejects.toThrow(/prompt is too long: \d+ tokens > 5000 maximum/);
    await expect(ask('#script {')).rejects.toThrow('not JSON');
    const keyless = await fetch(`${server.baseUrl}/v1/messages`, { method: 'POST', body: '{}' });
    expect(keyless.status).toBe(401);
    expect(keyless.headers.get('request-id')).toMatch(/^req_/);
    expect((await fetch(`${server.baseUrl}/v1/nothing`)).status).toBe(404);
  });

  it('tells what arrived, when, and what it held', async () => {
    const before = performance.timeOrigin + performance.now();
    await client.messages.create(params([[{ text: 'x' }]], 'mine'));
    await client.messages.create(params([[{ text: 'y' }]], 'other'));
    const shown = await fetch(`${server.baseUrl}/_scripted/requests?conversation=mine&bodies`);
    const log = (await shown.json()) as { count: number; requests: LoggedRequest[]; bodies: { model: string }[] };
    expect(log).toMatchObject({ count: 2, requests: [{ number: 1, conversation: 'mine', turn: 0, status: 200 }] });
    expect(log.bodies).toMatchObject([{ model: 'scripted-1' }]);
    expect(log.requests[0]?.arrivedAt).toBeGreaterThan(before - 1);
    expect(log.requests[0]?.answeredAt).toBeGreaterThanOrEqual(log.requests[0]?.arrivedAt ?? Infinity);
    await fetch(`${server.baseUrl}/_scripted/requests`, { method: 'DELETE' });
    expect(server.requests.count).toBe(0);
  });

  it('closes with streams open', async () => {
    const slow = params([{ blocks: [{ text: 'slow '.repeat(50) }], tokenDelayMs: 1000 }]);
    const stream = await client.messages.create({ ...slow, stream: true });
    await server.close();
    await expect(readAll(stream)).rejects.toThrow();
    server = await startScriptedModel();
  });
});

async function readAll(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
