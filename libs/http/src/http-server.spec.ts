import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

import { EmbeddedLiveBus } from '@manyhands/adapter-embedded';
import { SessionLogError, type Logger, type SessionService } from '@manyhands/ports';
import type { ErrorBody, Session } from '@manyhands/protocol';
import { afterEach, describe, expect, it } from 'vitest';

import { apiKey, createTestServer, scripted, sdkHeaders, type TestServer } from './testing/test-server.ts';
import { ManualClock } from './testing/manual-clock.ts';

const sessionId = `sesn_01${'A'.repeat(22)}`;
const json = { ...sdkHeaders, 'content-type': 'application/json' };
const open: TestServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function serve(sessions: Partial<SessionService> = {}, logger?: Logger): Promise<TestServer> {
  const clock = new ManualClock();
  const server = await createTestServer({
    sessions: scripted(sessions),
    clock,
    liveBus: new EmbeddedLiveBus({ clock }),
    ...(logger && { logger }),
  });
  open.push(server);
  return server;
}

/** Every error has the wire's shape and names its request, in the body and in the header. */
function errorOf(response: { headers: Record<string, unknown>; body: string }): ErrorBody['error'] {
  const body = JSON.parse(response.body) as ErrorBody;
  expect(body.type).toBe('error');
  expect(body.request_id).toMatch(/^req_/);
  expect(response.headers['request-id']).toBe(body.request_id);
  expect(response.headers['content-type']).toContain('application/json');
  return body.error;
}

describe('who may ask', () => {
  it.each([
    [{ 'anthropic-beta': sdkHeaders['anthropic-beta'] }],
    [{ ...sdkHeaders, authorization: 'Bearer wrong' }],
    [{ ...sdkHeaders, 'x-api-key': apiKey }],
  ])('is refused with 401: %o', async (headers) => {
    const response = await (await serve()).inject({ url: '/v1/sessions', headers });
    expect(response.statusCode).toBe(401);
    expect(errorOf(response).type).toBe('authentication_error');
  });

  it('is refused before the body is looked at', async () => {
    const response = await (await serve()).inject({ method: 'POST', url: '/v1/sessions', payload: '{' });
    expect(response.statusCode).toBe(401);
  });

  it('is asked for on encoded paths too: the router decodes them', async () => {
    const server = await serve({ session: async () => null });
    for (const url of [`/%76%31/sessions/${sessionId}`, `/v1/%73essions/${sessionId}`]) {
      expect((await server.inject({ url })).statusCode).toBe(401);
      const { authorization } = sdkHeaders;
      const hidden = await server.inject({ url, headers: { authorization } });
      expect(errorOf(hidden).message).toContain('anthropic-beta');
    }
  });

  it('may use either header, any version, and the old query flag', async () => {
    const server = await serve({ session: async () => null });
    const beta = { 'anthropic-beta': sdkHeaders['anthropic-beta'] };
    for (const headers of [
      { ...beta, 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' },
      { ...beta, authorization: `Bearer ${apiKey}` },
    ]) {
      const response = await server.inject({ url: `/v1/sessions/${sessionId}?beta=true`, headers });
      expect(errorOf(response)).toMatchObject({
        type: 'not_found_error',
        message: 'There is no session with this id.',
      });
    }
  });
});

describe('the beta header', () => {
  it('missing, hides the endpoint', async () => {
    const { authorization } = sdkHeaders;
    const response = await (await serve()).inject({ url: '/v1/agents', headers: { authorization } });
    expect(response.statusCode).toBe(404);
    expect(errorOf(response).type).toBe('not_found_error');
  });

  it('with an unknown value, is a bad request', async () => {
    const headers = { ...sdkHeaders, 'anthropic-beta': 'managed-agents-2026-04-01,nonsense' };
    const response = await (await serve()).inject({ url: '/v1/agents', headers });
    expect(response.statusCode).toBe(400);
    expect(errorOf(response).message).toContain('Unexpected value(s) `nonsense` for the `anthropic-beta` header');
  });
});

describe('what does not exist', () => {
  it.each([
    ['GET', '/v1/nothing'],
    ['PUT', '/v1/sessions'],
    ['PATCH', `/v1/sessions/${sessionId}`],
    ['DELETE', '/v1/agents/agent_1'],
    ['OPTIONS', '/v1/sessions'],
    ['GET', '/v1/sessions/not-an-id'],
    ['GET', `/v1/sessions/${'x'.repeat(2_000)}`],
    ['GET', '/v1/sessions/..%2f..%2fetc%2fpasswd'],
    ['GET', `/v1/sessions/${sessionId}/threads/x/events/stream`],
  ] as const)('is 404 in the wire shape: %s %s', async (method, url) => {
    const response = await (await serve()).inject({ method, url, headers: sdkHeaders });
    expect(response.statusCode).toBe(404);
    expect(errorOf(response).type).toBe('not_found_error');
  });

  it('outside of /v1 needs no key to be told so', async () => {
    const response = await (await serve()).inject({ url: '/favicon.ico' });
    expect(response.statusCode).toBe(404);
    errorOf(response);
  });

  it('yet is said to come later', async () => {
    const server = await serve();
    for (const url of ['/v1/vaults', '/v1/files', '/v1/deployments/depl_1/run']) {
      const response = await server.inject({ method: 'POST', url, headers: json, payload: {} });
      expect(response.statusCode).toBe(404);
      expect(errorOf(response).message).toContain('not available in this version');
    }
  });

  it('a malformed URL is a bad request', async () => {
    const response = await (await serve()).inject({ url: '/v1/sessions/%zz', headers: sdkHeaders });
    expect(response.statusCode).toBe(400);
    errorOf(response);
  });
});

it('answers what is no HTTP in the wire shape too', async () => {
  const url = new URL(await (await serve()).listen(0, '127.0.0.1'));
  const socket = connect(Number(url.port), url.hostname);
  socket.end('this is no HTTP\r\n\r\n');
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  expect(head).toContain('400 Bad Request');
  const id = /request-id: (\S+)/.exec(head)?.[1];
  expect(errorOf({ headers: { 'request-id': id, 'content-type': head }, body }).type).toBe('invalid_request_error');
});

describe('bodies', () => {
  const post = (server: TestServer, payload: string, headers: Record<string, string> = json) =>
    server.inject({ method: 'POST', url: '/v1/agents', headers, payload });

  it.each(['{', '{"name":', 'nonsense', '[1,]', '{"name":"a"} trailing', '{"__proto__":{"admin":true}}', '\u0000'])(
    'that are not JSON are a bad request: %j',
    async (payload) => {
      const response = await post(await serve(), payload);
      expect(response.statusCode).toBe(400);
      expect(errorOf(response).message).toContain('not valid JSON');
    },
  );

  it('that are not JSON are not quoted back', async () => {
    const response = await post(await serve(), '{"name": secret-canary }');
    expect(response.body).not.toContain('secret-canary');
  });

  it.each(['null', '[]', '"text"', '7', '{}', '{"name":5,"model":true}', '{"name":"a","model":"m","unknown":1}'])(
    'of the wrong form are a bad request: %s',
    async (payload) => {
      const response = await post(await serve(), payload);
      expect(response.statusCode).toBe(400);
      expect(errorOf(response).type).toBe('invalid_request_error');
    },
  );

  it('name the field that is wrong', async () => {
    const response = await post(await serve(), JSON.stringify({ name: 'n'.repeat(257), model: 'm' }));
    expect(errorOf(response).message).toMatch(/^name: must have 1 to 256 characters/);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'nonsense'])(
    'of another content type are a bad request: %s',
    async (type) => {
      const response = await post(await serve(), '{"name":"a","model":"m"}', { ...sdkHeaders, 'content-type': type });
      expect(response.statusCode).toBe(400);
      expect(errorOf(response).message).toContain('content-type: application/json');
    },
  );

  it('that are missing are a bad request where one is needed', async () => {
    const response = await post(await serve(), '');
    expect(errorOf(response).message).toContain('must be JSON');
  });

  it('beyond 32 MB are 413, and the server goes on', async () => {
    const server = await serve();
    const url = await server.listen(0, '127.0.0.1');
    const body = `{"name":"${'x'.repeat(33 * 1024 * 1024)}"}`;
    const response = await fetch(`${url}/v1/agents`, { method: 'POST', headers: json, body });
    expect(response.status).toBe(413);
    const error = (await response.json()) as ErrorBody;
    expect(error.error.type).toBe('request_too_large');
    expect(response.headers.get('request-id')).toBe(error.request_id);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });

  it('may be empty where none is needed, whatever their content type says', async () => {
    const refusal = { code: 'session_running', message: 'The session is running.' } as const;
    const server = await serve({ execute: async () => ({ kind: 'refused', refusal }) });
    for (const headers of [sdkHeaders, json]) {
      const response = await server.inject({ method: 'POST', url: `/v1/sessions/${sessionId}/archive`, headers });
      expect(errorOf(response).message).toBe('The session is running.');
    }
  });
});

describe('errors of the log', () => {
  const failing = (error: Error): Partial<SessionService> => ({ session: () => Promise.reject(error) });
  const get = async (server: TestServer) => server.inject({ url: `/v1/sessions/${sessionId}`, headers: sdkHeaders });

  it('away: 503 and when to come back', async () => {
    const response = await get(await serve(failing(new SessionLogError('unavailable', 'no quorum'))));
    expect(response.statusCode).toBe(503);
    expect(response.headers['retry-after']).toBe('1');
    expect(errorOf(response).type).toBe('api_error');
  });

  it('broken or without its key: 500 with a clear text', async () => {
    const response = await get(
      await serve(failing(new SessionLogError('key-missing', 'the key of sesn_1 is missing'))),
    );
    expect(response.statusCode).toBe(500);
    expect(errorOf(response)).toEqual({ type: 'api_error', message: 'the key of sesn_1 is missing' });
  });

  it('not foreseen: 500 that says nothing, and a line in the log with the request', async () => {
    const lines: Record<string, unknown>[] = [];
    const note = (fields: Record<string, unknown>) => void lines.push(fields);
    const logger: Logger = { debug: note, info: note, warn: note, error: note };
    const response = await get(await serve(failing(new Error('password=hunter2 at /srv/secret')), logger));
    expect(response.statusCode).toBe(500);
    expect(errorOf(response).message).toBe('Internal server error.');
    expect(lines).toContainEqual(expect.objectContaining({ requestId: response.headers['request-id'] }));
  });
});

describe('refusals', () => {
  const refusing = (code: 'environment_name_taken' | 'queue_full' | 'budget_not_raised'): Partial<SessionService> => ({
    execute: async () => ({ kind: 'refused', refusal: { code, message: 'no' } }),
  });
  const send = async (server: TestServer) =>
    server.inject({
      method: 'POST',
      url: '/v1/environments',
      headers: json,
      payload: { name: 'env' },
    });

  it('of a conflict tell SDKs not to repeat it', async () => {
    const response = await send(await serve(refusing('environment_name_taken')));
    expect(response.statusCode).toBe(409);
    expect(response.headers['x-should-retry']).toBe('false');
  });

  it('of a full queue say when to come back', async () => {
    const response = await send(await serve(refusing('queue_full')));
    expect(response.statusCode).toBe(429);
    expect(response.headers['retry-after']).toBe('1');
  });

  it('carry the code that SDKs pick their error class by', async () => {
    const response = await send(await serve(refusing('budget_not_raised')));
    expect(errorOf(response).details).toEqual({ error_code: 'budget_not_raised' });
  });
});

describe('queries', () => {
  it.each([
    'limit=0',
    'limit=101',
    'limit=ten',
    'limit=1&limit=2',
    'order=up',
    'page=nonsense',
    'statuses[]=busy',
    'statuses%5B%5D=idle&statuses%5B%5D=busy',
    'created_at[gte]=yesterday',
    'include_archived=maybe',
  ])('that are wrong are a bad request: %s', async (query) => {
    const response = await (await serve()).inject({ url: `/v1/sessions?${query}`, headers: sdkHeaders });
    expect(response.statusCode).toBe(400);
    expect(errorOf(response).message).toMatch(/^(limit|order|page|statuses|created_at|include_archived)/);
  });

  it('arrive whole, with encoded brackets and repeated names', async () => {
    const asked: unknown[] = [];
    const server = await serve({
      sessions: async (query) => {
        asked.push(query);
        return { items: [], hasMore: false };
      },
    });
    const query = 'statuses%5B%5D=idle&statuses[]=running&created_at%5Bgte%5D=2026-01-01T00:00:00Z&limit=7&beta=true';
    const response = await server.inject({ url: `/v1/sessions?${query}`, headers: sdkHeaders });
    expect(response.json()).toEqual({ data: [], next_page: null, prev_page: null });
    expect(asked).toEqual([
      expect.objectContaining({
        statuses: ['idle', 'running'],
        createdAt: { gte: Date.parse('2026-01-01T00:00:00Z') },
        limit: 7,
        order: 'desc',
      }),
    ]);
  });
});

describe('health', () => {
  it('needs no key', async () => {
    const server = await serve();
    for (const url of ['/livez', '/readyz', '/metrics']) {
      const response = await server.inject({ url });
      expect(response.statusCode).toBe(200);
      expect(response.headers['request-id']).toMatch(/^req_/);
    }
  });

  it('is not ready while the log catches up, or while the server drains', async () => {
    let isReady = false;
    const server = await serve({ ready: () => isReady });
    expect((await server.inject({ url: '/readyz' })).statusCode).toBe(503);
    isReady = true;
    expect((await server.inject({ url: '/readyz' })).statusCode).toBe(200);
    await server.drain(0);
    expect((await server.inject({ url: '/readyz' })).statusCode).toBe(503);
    expect((await server.inject({ url: '/livez' })).statusCode).toBe(200);
  });

  it('counts requests by route, not by path', async () => {
    const server = await serve({ session: async () => null });
    await server.inject({ url: `/v1/sessions/${sessionId}`, headers: sdkHeaders });
    const { body } = await server.inject({ url: '/metrics' });
    expect(body).toContain('route="/v1/sessions/:session_id",status="404"');
    expect(body).not.toContain(sessionId);
  });
});

describe('HEAD', () => {
  it('answers like GET, without a body', async () => {
    const response = await (await serve()).inject({ method: 'HEAD', url: '/livez' });
    expect(response.statusCode).toBe(200);
    expect(response.body).toBe('');
  });

  it('of a stream says that there is one, and ends', async () => {
    const server = await serve({ session: async () => ({}) as Session });
    const response = await server.inject({
      method: 'HEAD',
      url: `/v1/sessions/${sessionId}/events/stream`,
      headers: sdkHeaders,
    });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toContain('text/event-stream');
  });
});

describe('the end', () => {
  it('begins with readiness, while requests are answered', async () => {
    const server = await serve({ session: async () => null });
    server.beginDrain();
    const ready = await server.inject({ url: '/readyz' });
    expect([ready.statusCode, ready.json()]).toEqual([503, { status: 'draining' }]);
    const response = await server.inject({ url: `/v1/sessions/${sessionId}`, headers: sdkHeaders });
    expect(response.statusCode).toBe(404);
  });

  it('lets a request in flight finish', async () => {
    let answer: () => void = () => {};
    const asked = new Promise<void>((resolve) => (answer = resolve));
    let arrived: () => void = () => {};
    const inFlight = new Promise<void>((resolve) => (arrived = resolve));
    const server = await serve({
      session: async () => {
        arrived();
        await asked;
        return null;
      },
    });
    const url = await server.listen(0, '127.0.0.1');
    const response = fetch(`${url}/v1/sessions/${sessionId}`, { headers: sdkHeaders });
    await inFlight;
    const drained = server.drain(60_000);
    answer();
    expect((await response).status).toBe(404);
    (server.api.clock as ManualClock).advance(20);
    await drained;
  });
});
