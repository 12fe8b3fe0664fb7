import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signGrant } from '@manyhands/adapter-hand';
import type { HandConfig, HandGrant } from '@manyhands/core';
import { Executions } from './executions.ts';
import { Fence } from './fence.ts';
import { Grants } from './grants.ts';
import { Journal } from './journal.ts';
import { handServer } from './server.ts';
import { Toolset } from './toolset.ts';

const keys = generateKeyPairSync('ed25519');
const life = { session: 'sesn_01a', hand: 'main', generation: 2 };

let folder: string;
let server: Server;
let tools: Toolset;
let contacts: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'server-'));
  const config = {
    ...life,
    publicKey: keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url'),
    workspace: folder,
    roots: [],
    readOnlyRoots: [],
  } as unknown as HandConfig;
  const fence = new Fence(join(folder, 'fence'));
  tools = new Toolset(config, { PATH: '/usr/bin:/bin' });
  const executions = new Executions(await Journal.create(join(folder, 'journal')), tools, join(folder, 'long'));
  contacts = 0;
  server = handServer({ executions, fence, grants: new Grants(config, fence), onContact: () => contacts++ });
  server.listen(join(folder, 'socket'));
  await once(server, 'listening');
});
afterEach(() => {
  tools.end();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

function grant(over: Partial<HandGrant> = {}, key = keys.privateKey): string {
  return `Bearer ${signGrant({ ...life, epoch: 1, exp: Date.now() + 10_000, ...over }, key)}`;
}

async function ask(method: string, path: string, body?: unknown, authorization: string | null = grant()) {
  const outgoing = request({
    socketPath: join(folder, 'socket'),
    method,
    path,
    headers: authorization === null ? {} : { authorization },
  });
  outgoing.end(typeof body === 'string' ? body : body && JSON.stringify(body));
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode, body: (await json(incoming)) as Record<string, unknown> };
}

const bash = (command: string): unknown => ({ name: 'bash', input: { command } });

describe('the daemon over HTTP', () => {
  it('runs a call and answers with its result', async () => {
    const answer = await ask('PUT', '/executions/sevt_1?wait_ms=5000', bash('echo hello'));
    expect(answer).toEqual({
      status: 200,
      body: { state: 'finished', isError: false, content: [{ type: 'text', text: 'hello' }] },
    });
    expect(await ask('GET', '/executions/sevt_1')).toEqual(answer);
    expect(await ask('GET', '/executions')).toEqual({
      status: 200,
      body: { epoch: 1, executions: [{ id: 'sevt_1', state: 'finished' }] },
    });
  });

  it('waits no longer than asked, and shows the output so far', async () => {
    const begun = performance.now();
    const answer = await ask('PUT', '/executions/sevt_1?wait_ms=300', bash('echo begun; sleep 30'));
    expect(answer.body).toEqual({ state: 'running', output: 'begun' });
    expect(performance.now() - begun).toBeGreaterThan(250);
    expect((await ask('DELETE', '/executions/sevt_1')).body).toMatchObject({ state: 'finished', isError: true });
  });

  it('keeps to an upper bound of the call', async () => {
    const body = { name: 'bash', input: { command: 'sleep 30', timeout_ms: 60_000 }, timeoutMs: 100 };
    const answer = await ask('PUT', '/executions/sevt_1?wait_ms=5000', body);
    expect(answer.body).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('timed out') as string }],
    });
  });

  it('answers after its health without a grant, and after nothing else', async () => {
    expect((await ask('GET', '/healthz', undefined, null)).status).toBe(200);
    for (const [method, path] of [
      ['GET', '/executions'],
      ['GET', '/executions/a'],
      ['PUT', '/executions/a'],
      ['DELETE', '/executions/a'],
      ['GET', '/'],
    ] as const)
      expect(await ask(method, path, undefined, null)).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
    expect(contacts).toBe(0);
  });

  it.each<[string, () => string]>([
    ['of another platform', () => grant({}, generateKeyPairSync('ed25519').privateKey)],
    ['that has expired', () => grant({ exp: Date.now() - 120_000 })],
    ['of another session', () => grant({ session: 'sesn_01b' })],
    ['of another hand', () => grant({ hand: 'second' })],
    ['that was changed', () => grant().replace('Bearer ey', 'Bearer eY')],
    ['that is none', () => 'Bearer x.y.z'],
    ['of another scheme', () => grant().replace('Bearer', 'Basic')],
  ])('refuses a grant %s', async (_, make) => {
    expect(await ask('PUT', '/executions/sevt_1', bash('touch done'), make())).toMatchObject({ status: 401 });
    expect((await ask('GET', '/executions/sevt_1')).status).toBe(404);
  });

  it('refuses lower epochs and other generations as fenced', async () => {
    await ask('GET', '/executions', undefined, grant({ epoch: 5 }));
    expect(await ask('GET', '/executions', undefined, grant({ epoch: 4 }))).toMatchObject({
      status: 409,
      body: { error: 'fenced' },
    });
    expect(await ask('GET', '/executions', undefined, grant({ generation: 1, epoch: 9 }))).toMatchObject({
      status: 409,
    });
    expect((await ask('GET', '/executions', undefined, grant({ epoch: 5 }))).status).toBe(200);
  });

  it('starts nothing for a holder that was fenced while it spoke', async () => {
    const slow = request({
      socketPath: join(folder, 'socket'),
      method: 'PUT',
      path: '/executions/sevt_1',
      headers: { authorization: grant({ epoch: 1 }) },
    });
    slow.write('{"name":"bash",');
    await expect.poll(() => contacts).toBe(1);
    await ask('GET', '/executions', undefined, grant({ epoch: 2 }));
    slow.end('"input":{"command":"true"}}');
    const [response] = (await once(slow, 'response')) as [{ statusCode: number }];
    expect(response.statusCode).toBe(409);
    expect((await ask('GET', '/executions/sevt_1', undefined, grant({ epoch: 2 }))).status).toBe(404);
  });

  it.each<[string, unknown]>([
    ['no JSON', '{"name":'],
    ['no object', '[]'],
    ['an unknown tool', { name: 'web_fetch', input: {} }],
    ['no input', { name: 'bash' }],
    ['a bad limit', { name: 'bash', input: {}, timeoutMs: -1 }],
  ])('refuses a body with %s', async (_, body) => {
    expect(await ask('PUT', '/executions/sevt_1', body)).toMatchObject({ status: 400, body: { error: 'invalid' } });
  });

  it('knows no other paths and methods', async () => {
    expect((await ask('GET', '/executions/a/b')).status).toBe(404);
    expect((await ask('PUT', '/executions/..%2f')).status).toBe(404);
    expect((await ask('POST', '/executions/a')).status).toBe(405);
  });
});
