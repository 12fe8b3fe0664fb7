/** The API over the real session log; nobody plays the model, so a session that got a message stays `running`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { EmbeddedLiveBus, EmbeddedTopic, LocalKeyService, SystemClock } from '@manyhands/adapter-embedded';
import { silentLogger } from '@manyhands/ports';
import { MemoryBlobStore } from '@manyhands/ports/testing';
import {
  topics,
  type Agent,
  type Environment,
  type Epoch,
  type ErrorBody,
  type EventId,
  type Session,
  type SessionEvent,
  type SessionId,
} from '@manyhands/protocol';
import { SessionLogService } from '@manyhands/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { StreamClient } from './testing/stream-client.ts';
import { createTestServer, sdkHeaders, type TestServer } from './testing/test-server.ts';

let directory: string;
let topic: EmbeddedTopic;
let log: SessionLogService;
let server: TestServer;
let root: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'public-api-'));
  const partitions = Object.fromEntries(Object.values(topics).map((name) => [name, 2]));
  topic = await EmbeddedTopic.open({
    file: path.join(directory, 'log.db'),
    partitions: partitions as Record<(typeof topics)[keyof typeof topics], number>,
  });
  const clock = new SystemClock();
  log = new SessionLogService({
    topic,
    clock,
    blobs: new MemoryBlobStore(),
    keys: new LocalKeyService(new Uint8Array(32).fill(1)),
    logger: silentLogger,
    copyPath: path.join(directory, 'copy.db'),
    keysPath: path.join(directory, 'keys.db'),
    readerThreads: 0,
    defaultEffort: () => 'high',
  });
  await log.start();
  server = await createTestServer({ sessions: log, clock, liveBus: new EmbeddedLiveBus({ clock }) });
  root = await server.listen(0, '127.0.0.1');
});

afterAll(async () => {
  await server.close();
  await log.stop();
  await topic.close();
  await rm(directory, { recursive: true, force: true });
});

type Method = 'GET' | 'POST' | 'DELETE';
type Page<T> = { data: T[]; next_page: string | null; prev_page?: string | null };

async function call<T>(method: Method, url: string, payload?: object, headers: Record<string, string> = {}) {
  const response = await server.inject({
    method,
    url: `/v1${url}`,
    headers: { ...sdkHeaders, ...headers },
    ...(payload && { payload }),
  });
  return { status: response.statusCode, body: response.json<T>(), headers: response.headers };
}

async function ok<T>(method: Method, url: string, payload?: object, headers?: Record<string, string>): Promise<T> {
  const { status, body } = await call<T>(method, url, payload, headers);
  expect(body).not.toHaveProperty('error');
  expect(status).toBe(200);
  return body;
}

async function refusal(method: Method, url: string, payload?: object, headers?: Record<string, string>) {
  const { status, body } = await call<ErrorBody>(method, url, payload, headers);
  expect(body.type).toBe('error');
  return { status, code: body.error.details?.error_code, message: body.error.message };
}

let names = 0;
const newAgent = (changes: object = {}) =>
  ok<Agent>('POST', '/agents', { name: 'Agent', model: 'test-model', ...changes });
const newEnvironment = () => ok<Environment>('POST', '/environments', { name: `environment ${names++}` });
async function newSession(changes: object = {}) {
  const [agent, environment] = [await newAgent(), await newEnvironment()];
  return ok<Session>('POST', '/sessions', { agent: agent.id, environment_id: environment.id, ...changes });
}
const message = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });

/** Follows `next_page` to its end. */
async function all<T>(url: string): Promise<T[]> {
  const items: T[] = [];
  let page: string | null = '';
  while (page !== null) {
    const answer: Page<T> = await ok<Page<T>>('GET', `${url}&page=${page}`);
    items.push(...answer.data);
    page = answer.next_page;
  }
  return items;
}

describe('agents', () => {
  it('are created, read, updated and archived', async () => {
    const agent = await newAgent({ description: 'first', metadata: { team: 'a' } });
    expect(agent).toMatchObject({ type: 'agent', version: 1, model: { id: 'test-model', effort: { type: 'high' } } });
    const updated = await ok<Agent>('POST', `/agents/${agent.id}`, { description: 'second', version: 1 });
    expect(updated).toMatchObject({ id: agent.id, version: 2, description: 'second', metadata: { team: 'a' } });
    expect(await ok<Agent>('GET', `/agents/${agent.id}?version=1`)).toMatchObject({ version: 1, description: 'first' });
    const archived = await ok<Agent>('POST', `/agents/${agent.id}/archive`);
    expect(archived.archived_at).not.toBeNull();
    expect(await ok<Agent>('POST', `/agents/${agent.id}/archive`)).toEqual(archived);
  });

  it('refuse an update that was made for another version, and say not to repeat it', async () => {
    const agent = await newAgent();
    const { status, headers } = await call('POST', `/agents/${agent.id}`, { name: 'other', version: 7 });
    expect(status).toBe(409);
    expect(headers['x-should-retry']).toBe('false');
  });

  it('list their versions, newest first, page after page', async () => {
    const agent = await newAgent();
    for (let i = 2; i <= 5; i++) await ok('POST', `/agents/${agent.id}`, { name: `Agent ${i}` });
    const versions = await all<Agent>(`/agents/${agent.id}/versions?limit=2`);
    expect(versions.map(({ version }) => version)).toEqual([5, 4, 3, 2, 1]);
  });

  it('are listed newest first without the archived ones', async () => {
    const [first, second, archived] = [await newAgent(), await newAgent(), await newAgent()];
    await ok('POST', `/agents/${archived.id}/archive`);
    const listed = (await all<Agent>('/agents?limit=2')).map(({ id }) => id);
    expect(listed.indexOf(second.id)).toBeLessThan(listed.indexOf(first.id));
    expect(listed).not.toContain(archived.id);
    expect(new Set(listed).size).toBe(listed.length);
    expect((await all<Agent>('/agents?include_archived=true')).map(({ id }) => id)).toContain(archived.id);
  });

  it('with what comes later are refused clearly', async () => {
    const mcp_servers = [{ type: 'url', name: 'm', url: 'https://m.example.com' }];
    const later = [
      { mcp_servers },
      { mcp_servers, tools: [{ type: 'mcp_toolset', mcp_server_name: 'm' }] },
      { tools: [{ type: 'mcp_toolset', mcp_server_name: 'm' }] },
      { skills: [{ type: 'anthropic', skill_id: 'pptx' }] },
    ];
    const { id } = await newAgent();
    const overridden = { type: 'agent_with_overrides', id };
    const environment_id = (await newEnvironment()).id;
    const session = (await newSession()).id;
    for (const changes of [...later, { multiagent: { type: 'coordinator', agents: ['self'] } }]) {
      const notYet = { status: 400, message: expect.stringContaining('not supported yet') as string };
      expect(await refusal('POST', '/agents', { name: 'a', model: 'm', ...changes })).toMatchObject(notYet);
      expect(await refusal('POST', `/agents/${id}`, { version: 1, ...changes })).toMatchObject(notYet);
      if ('multiagent' in changes) continue;
      const agent = { ...overridden, ...changes };
      expect(await refusal('POST', '/sessions', { agent, environment_id })).toMatchObject(notYet);
      expect(await refusal('POST', `/sessions/${session}`, { agent: changes })).toMatchObject(notYet);
    }
  });

  it('cannot ask for a web search that no provider serves', async () => {
    const tools = [{ type: 'agent_toolset_20260401', configs: [{ name: 'web_search', enabled: true }] }];
    const refused = await refusal('POST', '/agents', { name: 'a', model: 'm', tools });
    expect(refused).toMatchObject({ status: 400, message: expect.stringContaining('search provider') as string });
  });

  it('show a tool without a provider as switched off, and are taken back as they were shown', async () => {
    const tools = [{ type: 'agent_toolset_20260401' }];
    const agent = await ok<Agent>('POST', '/agents', { name: 'a', model: 'm', tools });
    const shown = agent.tools.flatMap((tool) => (tool.type === 'agent_toolset_20260401' ? tool.configs : []));
    expect(shown.filter(({ enabled }) => !enabled).map(({ name }) => name)).toEqual(['web_search']);
    const sentBack = await ok<Agent>('POST', `/agents/${agent.id}`, { tools: agent.tools });
    expect(sentBack).toMatchObject({ version: 1, tools: agent.tools });
  });
});

describe('environments', () => {
  it('are created, updated, archived and deleted', async () => {
    const environment = await newEnvironment();
    expect(environment.config).toMatchObject({ type: 'cloud', networking: { type: 'unrestricted' } });
    const changed = await ok<Environment>('POST', `/environments/${environment.id}`, { description: 'new' });
    expect(changed).toMatchObject({ name: environment.name, description: 'new' });
    expect((await ok<Environment>('POST', `/environments/${environment.id}/archive`)).archived_at).not.toBeNull();
    expect(await ok('DELETE', `/environments/${environment.id}`)).toEqual({
      id: environment.id,
      type: 'environment_deleted',
    });
    expect(await refusal('GET', `/environments/${environment.id}`)).toMatchObject({
      status: 404,
      code: 'environment_not_found',
    });
    expect(await refusal('DELETE', `/environments/${environment.id}`)).toMatchObject({
      status: 404,
      code: 'environment_not_found',
    });
  });

  it('have names of their own', async () => {
    const { name } = await newEnvironment();
    expect(await refusal('POST', '/environments', { name })).toMatchObject({ status: 409 });
  });

  it('page through their list', async () => {
    const made = [await newEnvironment(), await newEnvironment(), await newEnvironment()].map(({ id }) => id);
    const listed = (await all<Environment>('/environments?limit=1')).map(({ id }) => id);
    expect(listed.filter((id) => made.includes(id))).toEqual(made.toReversed());
  });
});

describe('sessions', () => {
  it('are created with the snapshot of their agent, and read back', async () => {
    const session = await newSession({ title: 'T', metadata: { a: 'b' } });
    expect(session).toMatchObject({
      type: 'session',
      status: 'idle',
      title: 'T',
      metadata: { a: 'b' },
      vault_ids: [],
      resources: [],
    });
    expect(session.agent).toMatchObject({ type: 'agent', version: 1, name: 'Agent', multiagent: null });
    expect(await ok<Session>('GET', `/sessions/${session.id}`)).toMatchObject({ id: session.id, title: 'T' });
  });

  it('use the version that was asked for, or what overrides it', async () => {
    const [agent, environment] = [await newAgent({ system: 'old' }), await newEnvironment()];
    await ok('POST', `/agents/${agent.id}`, { system: 'new' });
    const create = (params: object | string) =>
      ok<Session>('POST', '/sessions', { agent: params, environment_id: environment.id });
    expect((await create(agent.id)).agent).toMatchObject({ version: 2, system: 'new' });
    expect((await create({ type: 'agent', id: agent.id, version: 1 })).agent).toMatchObject({
      version: 1,
      system: 'old',
    });
    const overridden = await create({ type: 'agent_with_overrides', id: agent.id, system: null, model: 'other' });
    expect(overridden.agent).toMatchObject({ version: 2, system: null, model: { id: 'other' } });
  });

  it('refuse what they cannot be made of', async () => {
    const [agent, archivedAgent] = [await newAgent(), await newAgent()];
    const [environment, archivedEnvironment] = [await newEnvironment(), await newEnvironment()];
    await ok('POST', `/agents/${archivedAgent.id}/archive`);
    await ok('POST', `/environments/${archivedEnvironment.id}/archive`);
    const unknown = 'X'.repeat(22);
    const create = (changes: object) =>
      refusal('POST', '/sessions', { agent: agent.id, environment_id: environment.id, ...changes });
    expect(await create({ agent: archivedAgent.id })).toMatchObject({ status: 400 });
    expect(await create({ agent: `agent_01${unknown}` })).toMatchObject({ status: 404 });
    expect(await create({ agent: { type: 'agent', id: agent.id, version: 9 } })).toMatchObject({ status: 404 });
    expect(await create({ environment_id: archivedEnvironment.id })).toMatchObject({
      status: 400,
      code: 'environment_archived',
    });
    expect(await create({ environment_id: `env_01${unknown}` })).toMatchObject({
      status: 404,
      code: 'environment_not_found',
    });
    expect(await create({ vault_ids: ['vlt_1'] })).toMatchObject({ status: 400 });
    expect(await create({ resources: [{ type: 'file', file_id: 'file_1' }] })).toMatchObject({ status: 400 });
    expect(await create({ agent: { type: 'agent_with_overrides', id: agent.id, model: null } })).toMatchObject({
      status: 400,
      code: 'agent_model_required',
    });
    const budget = { type: 'limit', max_list_cost: { amount: '100', currency: 'USD' } };
    const free = await newAgent({ model: 'free-model' });
    expect(await create({ agent: free.id, budget })).toMatchObject({ status: 400, code: 'model_not_budgetable' });
  });

  it('with initial events are running when they are answered', async () => {
    const session = await newSession({ initial_events: [message('hello')] });
    expect(session.status).toBe('running');
    const events = await all<SessionEvent>(`/sessions/${session.id}/events?limit=1`);
    expect(events.map(({ type }) => type)).toEqual([
      'session.status_running',
      'session.thread_status_running',
      'user.message',
    ]);
  });

  it('are updated, archived and deleted', async () => {
    const session = await newSession({ metadata: { keep: '1', drop: '2' } });
    const url = `/sessions/${session.id}`;
    const updated = await ok<Session>('POST', url, { title: 'new', metadata: { drop: null, add: '3' } });
    expect(updated).toMatchObject({ title: 'new', metadata: { keep: '1', add: '3' } });
    expect(updated.metadata).not.toHaveProperty('drop');
    const tool = { type: 'custom', name: 'ask', description: 'Asks.', input_schema: { type: 'object' } };
    expect((await ok<Session>('POST', url, { agent: { tools: [tool] } })).agent.tools).toMatchObject([{ name: 'ask' }]);
    expect(await refusal('POST', url, { vault_ids: ['vlt_1'] })).toMatchObject({ status: 400 });
    expect(await ok<Session>('POST', `${url}/archive`)).toMatchObject({ status: 'terminated' });
    expect(await refusal('POST', `${url}/events`, { events: [message('late')] })).toMatchObject({ status: 400 });
    expect(await ok('DELETE', url)).toEqual({ id: session.id, type: 'session_deleted' });
    for (const gone of [url, `${url}/events`, `${url}/threads`, `${url}/resources`, `${url}/events/stream`]) {
      expect(await refusal('GET', gone)).toMatchObject({ status: 404 });
    }
  });

  it('are listed by status and agent', async () => {
    const [idle, busy] = [await newSession(), await newSession({ initial_events: [message('x')] })];
    const ids = async (query: string) => (await all<Session>(`/sessions?limit=2&${query}`)).map(({ id }) => id);
    expect(await ids('statuses[]=running')).toContain(busy.id);
    expect(await ids('statuses[]=running')).not.toContain(idle.id);
    expect(await ids('statuses[]=running&statuses[]=idle')).toEqual(expect.arrayContaining([idle.id, busy.id]));
    expect(await ids(`agent_id=${idle.agent.id}`)).toEqual([idle.id]);
    expect(await ids(`agent_id=${idle.agent.id}&agent_version=2`)).toEqual([]);
    expect(await ids('deployment_id=depl_1')).toEqual([]);
  });

  it('page forwards and back again', async () => {
    const [agent, environment] = [await newAgent(), await newEnvironment()];
    const made: string[] = [];
    for (let i = 0; i < 5; i++) {
      made.push((await ok<Session>('POST', '/sessions', { agent: agent.id, environment_id: environment.id })).id);
    }
    for (const order of ['asc', 'desc']) {
      const expected = order === 'asc' ? made : made.toReversed();
      const read = (page: string) =>
        ok<Page<Session>>('GET', `/sessions?agent_id=${agent.id}&limit=2&order=${order}&page=${page}`);
      const idsOf = (page: Page<Session>) => page.data.map(({ id }) => id);
      const first = await read('');
      const second = await read(first.next_page ?? '');
      const third = await read(second.next_page ?? '');
      expect([first, second, third].map(idsOf)).toEqual([
        expected.slice(0, 2),
        expected.slice(2, 4),
        expected.slice(4),
      ]);
      expect([first.prev_page, third.next_page]).toEqual([null, null]);
      const back = await read(third.prev_page ?? '');
      expect(idsOf(back)).toEqual(idsOf(second));
      const start = await read(back.prev_page ?? '');
      expect(idsOf(start)).toEqual(idsOf(first));
      expect(start.prev_page).toBeNull();
      expect(idsOf(await read(start.next_page ?? ''))).toEqual(idsOf(second));
      const other = order === 'asc' ? 'desc' : 'asc';
      expect(await refusal('GET', `/sessions?order=${other}&page=${first.next_page}`)).toMatchObject({ status: 400 });
      expect(
        await refusal('GET', `/sessions?order=${order}&created_at[lt]=2001-01-01T00:00:00Z&page=${first.next_page}`),
      ).toMatchObject({ status: 400 });
    }
  });
});

describe('events', () => {
  it('come back with ids, in order, and stand last in the list while they wait', async () => {
    const session = await newSession();
    const url = `/sessions/${session.id}/events`;
    const first = await ok<Page<SessionEvent>>('POST', url, { events: [message('one'), message('two')] });
    const second = await ok<Page<SessionEvent>>('POST', url, { events: [message('three')] });
    const sent = [...first.data, ...second.data];
    expect(sent.map(({ type }) => type)).toEqual(['user.message', 'user.message', 'user.message']);
    const listed = await all<SessionEvent>(`${url}?limit=2`);
    expect(listed.slice(-3).map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
    expect(listed.at(-1)?.processed_at).toBeNull();
    const filtered = await all<SessionEvent>(`${url}?types[]=session.status_running&limit=1`);
    expect(filtered.map(({ type }) => type)).toEqual(['session.status_running']);
    const descending = await all<SessionEvent>(`${url}?order=desc&limit=2`);
    expect(new Set(descending.map(({ id }) => id))).toEqual(new Set(listed.map(({ id }) => id)));
  });

  it.each([
    [{ events: [] }],
    [{ events: 'x' }],
    [{ events: [{ type: 'agent.message', content: [] }] }],
    [{ events: [{ type: 'user.message', content: [{ type: 'redacted' }] }] }],
    [{ events: [{ type: 'user.tool_result', tool_use_id: 'sevt_1' }] }],
    [{ events: [{ type: 'user.define_outcome', description: 'd', rubric: { type: 'text', content: 'r' } }] }],
    [{ events: [{ type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_1' }] }],
    [{ events: [{ type: 'user.tool_confirmation', tool_use_id: 'sevt_1', result: 'allow' }] }],
  ])('are refused, all of them, when one is wrong: %j', async (body) => {
    const session = await newSession();
    expect(await refusal('POST', `/sessions/${session.id}/events`, body)).toMatchObject({ status: 400 });
    expect(await all(`/sessions/${session.id}/events?limit=10`)).toEqual([]);
  });

  it('of the system are refused where the model does not know them', async () => {
    const [agent, environment] = [await newAgent({ model: 'old-model' }), await newEnvironment()];
    const session = await ok<Session>('POST', '/sessions', { agent: agent.id, environment_id: environment.id });
    const events = [{ type: 'system.message', content: [{ type: 'text', text: 'be brief' }] }];
    expect(await refusal('POST', `/sessions/${session.id}/events`, { events })).toMatchObject({
      status: 400,
      code: 'model_does_not_support_mid_conversation_system',
    });
  });
});

describe('threads and resources', () => {
  it('of a session are its primary thread and none', async () => {
    const session = await newSession({ initial_events: [message('x')] });
    const url = `/sessions/${session.id}`;
    const threads = await ok<Page<{ id: string }>>('GET', `${url}/threads`);
    const thread = threads.data[0]?.id ?? '';
    expect(threads).toMatchObject({ data: [{ type: 'session_thread', session_id: session.id }], next_page: null });
    expect((await ok<Page<unknown>>('GET', `${url}/threads?statuses[]=idle`)).data).toEqual([]);
    expect(await ok('GET', `${url}/threads/${thread}`)).toMatchObject({ id: thread, parent_thread_id: null });
    expect(await refusal('GET', `${url}/threads/sthr_01${'X'.repeat(22)}`)).toMatchObject({ status: 404 });
    expect(await refusal('POST', `${url}/threads/${thread}/archive`)).toMatchObject({ status: 400 });
    expect(await ok('GET', `${url}/threads/${thread}/events?limit=9`)).toEqual(
      await ok('GET', `${url}/events?limit=9`),
    );
    expect(await ok('GET', `${url}/resources`)).toEqual({ data: [], next_page: null });
    expect(await refusal('POST', `${url}/resources`, { type: 'file', file_id: 'file_1' })).toMatchObject({
      status: 400,
    });
    expect(await refusal('DELETE', `${url}/resources/sesrsc_1`)).toMatchObject({ status: 404 });
  });
});

describe('Idempotency-Key', () => {
  const key = () => ({ 'idempotency-key': `key ${names++}` });

  it('gives a create the same answer again, as it was then', async () => {
    const headers = key();
    const [agent, environment] = [await newAgent(), await newEnvironment()];
    const body = { agent: agent.id, environment_id: environment.id, title: 'first' };
    const first = await ok<Session>('POST', '/sessions', body, headers);
    await ok('POST', `/sessions/${first.id}`, { title: 'changed' });
    await ok('POST', `/agents/${agent.id}/archive`);
    expect(await ok<Session>('POST', '/sessions', body, headers)).toMatchObject({ id: first.id, title: 'first' });
    expect(await refusal('POST', '/sessions', { ...body, title: 'other' }, headers)).toMatchObject({ status: 409 });
    await ok('DELETE', `/sessions/${first.id}`);
    expect(await call('POST', '/sessions', { ...body, agent: (await newAgent()).id }, headers)).toMatchObject({
      status: 409,
    });
  });

  it('makes one agent and one environment', async () => {
    const [forAgent, forEnvironment] = [key(), key()];
    const agent = { name: 'once', model: 'm' };
    const first = await ok<Agent>('POST', '/agents', agent, forAgent);
    await ok('POST', `/agents/${first.id}`, { name: 'renamed' });
    expect(await ok<Agent>('POST', '/agents', agent, forAgent)).toMatchObject({
      id: first.id,
      version: 1,
      name: 'once',
    });
    const environment = { name: `once ${names++}` };
    const made = await ok<Environment>('POST', '/environments', environment, forEnvironment);
    expect(await ok<Environment>('POST', '/environments', environment, forEnvironment)).toMatchObject({ id: made.id });
    expect(await refusal('POST', '/environments', { name: `other ${names++}` }, forEnvironment)).toMatchObject({
      status: 409,
    });
  });

  it('sends events once', async () => {
    const session = await newSession();
    const [url, headers] = [`/sessions/${session.id}/events`, key()];
    const first = await ok<Page<SessionEvent>>('POST', url, { events: [message('once')] }, headers);
    expect(await ok('POST', url, { events: [message('once')] }, headers)).toEqual(first);
    expect(await refusal('POST', url, { events: [message('twice')] }, headers)).toMatchObject({ status: 409 });
    const listed = await all<SessionEvent>(`${url}?types[]=user.message`);
    expect(listed).toHaveLength(1);
  });

  it('of more than 255 characters is refused', async () => {
    const headers = { 'idempotency-key': 'k'.repeat(256) };
    expect(await refusal('POST', '/agents', { name: 'a', model: 'm' }, headers)).toMatchObject({ status: 400 });
  });
});

describe('streams', () => {
  const open = (path: string, headers = {}) => StreamClient.open(`${root}/v1${path}`, { ...sdkHeaders, ...headers });

  it('deliver what is sent after they are open, also on the thread', async () => {
    const session = await newSession();
    const threads = await ok<Page<{ id: string }>>('GET', `/sessions/${session.id}/threads`);
    const paths = [
      `/sessions/${session.id}/events/stream`,
      `/sessions/${session.id}/threads/${threads.data[0]?.id}/stream`,
    ];
    const clients = await Promise.all(paths.map((one) => open(one)));
    await ok('POST', `/sessions/${session.id}/events`, { events: [message('hi')] });
    for (const client of clients) {
      await client.until(({ names }) => names.length === 3);
      // It waits at first; the list shows it last for as long as it does.
      expect(client.names).toEqual(['user.message', 'session.status_running', 'session.thread_status_running']);
      client.leave();
    }
  });

  it('opened just after a message, or after a create with one, begin with it', async () => {
    const session = await newSession({ initial_events: [message('hi')] });
    const first = await open(`/sessions/${session.id}/events/stream`);
    await first.until(({ names }) => names.length === 3);
    first.leave();
    await ok('POST', `/sessions/${session.id}/events`, { events: [message('again')] });
    const second = await open(`/sessions/${session.id}/events/stream`);
    await second.until(({ names }) => names.length === 1);
    expect(second.messages[0]?.data).toContain('again');
    second.leave();
  });

  it('resume after any message they sent', async () => {
    const session = await newSession({ initial_events: [message('hi')] });
    const path = `/sessions/${session.id}/events/stream`;
    const whole = await open(path, { 'last-event-id': '0.0' });
    await whole.until(({ names }) => names.length === 3);
    whole.leave();
    for (const [index, { id = '' }] of whole.messages.entries()) {
      const rest = await open(path, { 'last-event-id': id });
      const expected = whole.names.slice(index + 1);
      await rest.until(({ names }) => names.length >= expected.length);
      expect(rest.names).toEqual(expected);
      rest.leave();
    }
  });

  it('start with now where the message they name does not exist yet', async () => {
    const session = await newSession();
    const path = `/sessions/${session.id}/events/stream`;
    const client = await open(path, { 'last-event-id': '99999.1' });
    await ok('POST', `/sessions/${session.id}/events`, { events: [message('hi')] });
    await client.until(({ names }) => names.length === 3);
    expect(client.names[0]).toBe('user.message');
    client.leave();
  });

  it('show previews once they have caught up', async () => {
    const session = await newSession({ initial_events: [message('hi')] });
    const path = `/sessions/${session.id}/events/stream?event_deltas[]=agent.message`;
    const client = await open(path, { 'last-event-id': '0.0' });
    const eventId = `sevt_01${'E'.repeat(22)}` as EventId;
    const start = { type: 'start', eventId, eventType: 'agent.message', epoch: 1 as Epoch } as const;
    server.api.liveBus.publish(session.id as SessionId, start);
    await client.until(({ names }) => names.includes('event_start'));
    expect(client.names).toHaveLength(4);
    client.leave();
  });

  it('end with session.deleted', async () => {
    const session = await newSession();
    const client = await open(`/sessions/${session.id}/events/stream`);
    await ok('DELETE', `/sessions/${session.id}`);
    await client.untilEnd();
    expect(client.names).toEqual(['session.deleted']);
  });

  it('of a terminated session stay open until it is deleted', async () => {
    const session = await newSession();
    await ok('POST', `/sessions/${session.id}/archive`);
    const client = await open(`/sessions/${session.id}/events/stream`);
    await ok('DELETE', `/sessions/${session.id}`);
    await client.untilEnd();
    expect(client.names).toEqual(['session.deleted']);
  });
});
