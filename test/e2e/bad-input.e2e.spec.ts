/** Requests that are wrong: each is refused with the right words, and the server stays well. */
import { request as httpRequest } from 'node:http';
import { script } from '@manyhands/adapter-scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinTools, modelId, usePlatform } from '../support/platform.ts';
import { betaHeaders } from '../support/raw-stream.ts';

interface Answer {
  status: number;
  headers: Headers;
  body: { type: string; error: { type: string; message: string }; request_id: string };
}

describe('a request that is wrong', () => {
  const platform = usePlatform();
  let sessionId: string;
  let environmentId: string;
  let agentId: string;
  beforeAll(async () => {
    environmentId = await platform.environmentId();
    agentId = (await platform.agent()).id;
    sessionId = (await platform.session({ record: false })).id;
  });
  afterAll(async () => {
    expect((await (await platform.session()).play([[{ text: 'All well.' }]])).stop_reason.type).toBe('end_turn');
  });

  const auth = () => ({ authorization: `Bearer ${platform.server.apiKey}` });
  const json = { 'content-type': 'application/json' };

  async function ask(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<Answer> {
    const response = await fetch(platform.server.url + path, {
      method,
      headers: headers ?? { ...betaHeaders, ...auth(), ...json },
      ...(body !== undefined && { body }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
  }

  function expectError(answer: Answer, status: number, type: string, message: RegExp = /./): void {
    expect(answer).toMatchObject({
      status,
      body: { type: 'error', error: { type, message: expect.stringMatching(message) as string } },
    });
    expect(answer.body.request_id).toMatch(/^req_/);
    expect(answer.headers.get('request-id')).toBe(answer.body.request_id);
  }

  it.each(['{', '[1, 2', '{"name": }', '\u0000', '"text"', 'null', '[]', '17', '{"__proto__": {"x": 1}}'])(
    'has the body %j',
    async (body) => expectError(await ask('POST', '/v1/agents', body), 400, 'invalid_request_error'),
  );

  it('has a body of another kind', async () => {
    const form = { ...betaHeaders, ...auth(), 'content-type': 'application/x-www-form-urlencoded' };
    expectError(await ask('POST', '/v1/agents', 'name=x', form), 400, 'invalid_request_error', /application\/json/);
  });

  it('says nothing of the body in its answer', async () => {
    const { body } = await ask('POST', '/v1/agents', '{"system": "my-secret-words", oops}');
    expect(JSON.stringify(body)).not.toContain('my-secret');
  });

  const agent = { name: 'x', model: modelId };
  const longText = (length: number) => 'x'.repeat(length);
  const metadata = (pairs: number) => Object.fromEntries(Array.from({ length: pairs }, (_, n) => [`k${n}`, 'v']));
  it.each<[string, object]>([
    ['no name', { model: modelId }],
    ['no model', { name: 'x' }],
    ['a number for a name', { ...agent, name: 17 }],
    ['an empty name', { ...agent, name: '' }],
    ['a long name', { ...agent, name: longText(257) }],
    ['a long description', { ...agent, description: longText(2_049) }],
    ['a long system prompt', { ...agent, system: longText(100_001) }],
    ['an unknown field', { ...agent, temperature: 1 }],
    ['an unknown kind of tool', { ...agent, tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    ['too many tools', { ...agent, tools: Array.from({ length: 257 }, () => builtinTools[0]) }],
    ['too much metadata', { ...agent, metadata: metadata(17) }],
    ['a long metadata key', { ...agent, metadata: { [longText(65)]: 'v' } }],
    ['a long metadata value', { ...agent, metadata: { k: longText(513) } }],
    ['metadata that is no text', { ...agent, metadata: { k: 1 } }],
    ['an unknown effort', { ...agent, model: { id: modelId, effort: 'heroic' } }],
    ['a tool list that is none', { ...agent, tools: { type: 'agent_toolset_20260401' } }],
  ])('makes an agent with %s', async (_, body) => {
    expectError(await ask('POST', '/v1/agents', JSON.stringify(body)), 400, 'invalid_request_error');
  });

  it.each<[string, (base: { agent: string; environment_id: string }) => object]>([
    ['no environment', ({ agent: id }) => ({ agent: id })],
    ['no agent', ({ environment_id }) => ({ environment_id })],
    ['an agent that is a list', (base) => ({ ...base, agent: [] })],
    ['version 0', (base) => ({ ...base, agent: { type: 'agent', id: base.agent, version: 0 } })],
    ['fifty-one initial events', (base) => ({ ...base, initial_events: Array.from({ length: 51 }, () => text('x')) })],
    ['an interrupt to begin with', (base) => ({ ...base, initial_events: [{ type: 'user.interrupt' }] })],
    ['a vault', (base) => ({ ...base, vault_ids: ['vlt_01x'] })],
    ['a resource', (base) => ({ ...base, resources: [{ type: 'file', file_id: 'file_01x' }] })],
    [
      'an outcome',
      (base) => ({
        ...base,
        initial_events: [{ type: 'user.define_outcome', description: 'x', rubric: { type: 'text', content: 'x' } }],
      }),
    ],
  ])('makes a session with %s', async (_, body) => {
    const base = { agent: agentId, environment_id: environmentId };
    expectError(await ask('POST', '/v1/sessions', JSON.stringify(body(base))), 400, 'invalid_request_error');
  });

  it.each<[string, unknown]>([
    ['no events', {}],
    ['an empty list', { events: [] }],
    ['too many events', { events: Array.from({ length: 1_001 }, () => text('x')) }],
    ['a list that is none', { events: text('x') }],
    ['an unknown type', { events: [{ type: 'user.wish' }] }],
    ['an event of the server', { events: [{ type: 'session.status_idle' }] }],
    ['a message without content', { events: [{ type: 'user.message', content: [] }] }],
    ['an empty text', { events: [text('')] }],
    ['a text that is a number', { events: [{ type: 'user.message', content: [{ type: 'text', text: 5 }] }] }],
    ['a redacted block', { events: [{ type: 'user.message', content: [{ type: 'redacted' }] }] }],
    ['an unknown block', { events: [{ type: 'user.message', content: [{ type: 'video' }] }] }],
    ['a good and a bad event', { events: [text('x'), { type: 'user.message', content: [] }] }],
    ['a result of a self-hosted tool', { events: [{ type: 'user.tool_result', tool_use_id: 'sevt_01x' }] }],
  ])('sends %s', async (_, body) => {
    const path = `/v1/sessions/${sessionId}/events`;
    expectError(await ask('POST', path, JSON.stringify(body)), 400, 'invalid_request_error');
    expect((await platform.client.beta.sessions.events.list(sessionId)).data).toEqual([]);
  });

  it.each([
    ['GET', '/v1/sessions/sesn_01nothing'],
    ['GET', '/v1/sessions/agent_01nothing'],
    ['GET', `/v1/sessions/${'x'.repeat(300)}`],
    ['GET', '/v1/sessions/..%2f..%2fetc'],
    ['POST', '/v1/sessions/sesn_01nothing/events'],
    ['GET', '/v1/sessions/sesn_01nothing/events'],
    ['GET', '/v1/sessions/sesn_01nothing/events/stream'],
    ['GET', '/v1/sessions/sesn_01nothing/threads'],
    ['DELETE', '/v1/sessions/sesn_01nothing'],
    ['GET', '/v1/agents/agent_01nothing'],
    ['GET', '/v1/environments/env_01nothing'],
    ['DELETE', '/v1/agents/agent_01nothing'],
    ['GET', '/v1/vaults'],
    ['POST', '/v1/files'],
    ['GET', '/v1/environments/env_01x/work/poll'],
    ['GET', '/v2/sessions'],
    ['PUT', '/v1/sessions'],
  ])('asks for what is not there: %s %s', async (method, path) => {
    const body = method === 'POST' ? JSON.stringify({ events: [text('x')] }) : undefined;
    expectError(await ask(method, path, body), 404, 'not_found_error');
  });

  it.each<[string, () => Record<string, string>, number, string]>([
    ['no key', () => ({ ...betaHeaders }), 401, 'authentication_error'],
    ['a wrong key', () => ({ ...betaHeaders, authorization: 'Bearer mh-wrong' }), 401, 'authentication_error'],
    [
      'both kinds of key',
      () => ({ ...betaHeaders, ...auth(), 'x-api-key': platform.server.apiKey }),
      401,
      'authentication_error',
    ],
    ['no beta header', () => ({ 'anthropic-version': '2026-10-21', ...auth() }), 404, 'not_found_error'],
    ['a beta of another part', () => ({ ...auth(), 'anthropic-beta': 'dreaming-2026-04-21' }), 404, 'not_found_error'],
    ['an unknown beta', () => ({ ...auth(), 'anthropic-beta': 'flying-2026-01-01' }), 400, 'invalid_request_error'],
  ])('carries %s', async (_, headers, status, type) => {
    expectError(await ask('GET', '/v1/agents', undefined, headers()), status, type);
  });

  it('is none: the older header for keys, older versions and ?beta=true are welcome', async () => {
    const headers = { 'anthropic-beta': betaHeaders['anthropic-beta'], 'x-api-key': platform.server.apiKey };
    expect(
      (await ask('GET', '/v1/agents?beta=true', undefined, { ...headers, 'anthropic-version': '2023-06-01' })).status,
    ).toBe(200);
  });

  it('is larger than 32 MB, and is refused before it was read', async () => {
    const body = JSON.stringify({ events: [text('x'.repeat(33 * 1024 * 1024))] });
    // The server need not read the rest, so the client may see its connection end instead.
    const answer = await ask('POST', `/v1/sessions/${sessionId}/events`, body).catch(() => null);
    if (answer) expectError(answer, 413, 'request_too_large');
    expect(await statusOfAnnounced(33 * 1024 * 1024)).toBe(413);
    expect((await platform.client.beta.sessions.events.list(sessionId)).data).toEqual([]);
  });

  it('is not one of 20 MB', async () => {
    const conversation = await platform.session();
    // The script stands in a block of its own: the model repeats whatever has none.
    const large = [text('x'.repeat(20 * 1024 * 1024)), text(script([[{ text: 'Long.' }]]))].flatMap(
      ({ content }) => content,
    );
    await conversation.untilIdle(() => conversation.send({ type: 'user.message', content: large }));
    const [stored] = await conversation.ofType('user.message');
    expect(stored?.content).toEqual(large);
    expect(await conversation.answers()).toEqual(['Long.']);
  });

  /** Announces a body and sends none of it. */
  function statusOfAnnounced(bytes: number): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const headers = { ...betaHeaders, ...auth(), ...json, 'content-length': bytes };
      const url = `${platform.server.url}/v1/sessions/${sessionId}/events`;
      const request = httpRequest(url, { method: 'POST', headers }, (response) => {
        resolve(response.statusCode);
        request.destroy();
      });
      request.on('error', reject);
      request.flushHeaders();
    });
  }
});

function text(words: string) {
  return { type: 'user.message' as const, content: [{ type: 'text' as const, text: words }] };
}
