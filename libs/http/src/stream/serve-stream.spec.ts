import { once } from 'node:events';
import { connect, type AddressInfo, type Server } from 'node:net';

import { EmbeddedLiveBus } from '@manyhands/adapter-embedded';
import { SessionLogError, type LiveDelta, type SessionService } from '@manyhands/ports';
import type { Epoch, EventId, Seq, SessionEvent, SessionId } from '@manyhands/protocol';
import { afterEach, describe, expect, it } from 'vitest';

import type { PublicApiOptions } from '../public-api.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { ScriptedSession } from '../testing/scripted-session.ts';
import { StreamClient } from '../testing/stream-client.ts';
import {
  apiKey,
  createTestServer,
  otherApiKey,
  scripted,
  sdkHeaders,
  type TestServer,
} from '../testing/test-server.ts';
import { OpenStreams } from './open-streams.ts';

const sessionId = `sesn_01${'A'.repeat(22)}` as SessionId;
const epoch = 1 as Epoch;
const previews = '?event_deltas[]=agent.message';
const running: TestServer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function serve(options: Partial<PublicApiOptions> = {}) {
  const clock = new ManualClock();
  const liveBus = new EmbeddedLiveBus({ clock });
  const session = new ScriptedSession();
  const server = await createTestServer({ sessions: scripted(session.service), clock, liveBus, options });
  running.push(server);
  const root = await server.listen(0, '127.0.0.1');
  const url = `${root}/v1/sessions/${sessionId}/events/stream`;
  return {
    clock,
    liveBus,
    session,
    server,
    root,
    streams: server.app.get(OpenStreams, { strict: false }),
    publish: (delta: LiveDelta) => liveBus.publish(sessionId, delta),
    open: (query = '', headers: Record<string, string> = {}, how = {}) =>
      StreamClient.open(url + query, { ...sdkHeaders, ...headers }, how),
  };
}

function start(name: string): LiveDelta {
  return { type: 'start', eventId: `sevt_${name}` as EventId, eventType: 'agent.message', epoch };
}
function text(name: string, text: string): LiveDelta {
  return { type: 'text', eventId: `sevt_${name}` as EventId, index: 0, text, epoch };
}
const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
};

describe('a stream', () => {
  it('has the headers of one, with the id of its request', async () => {
    const { open } = await serve();
    const client = await open();
    expect(client.response.statusCode).toBe(200);
    expect(client.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'request-id': expect.stringMatching(/^req_/) as string,
    });
  });

  it('delivers from the moment its headers arrive, with name, position and data', async () => {
    const { open, session } = await serve();
    session.append({ type: 'session.status_idle' });
    const client = await open();
    session.append({ type: 'session.status_running' });
    await client.until(({ messages }) => messages.length === 1);
    expect(client.messages[0]).toMatchObject({ event: 'session.status_running', id: '2.0' });
    expect(JSON.parse(client.messages[0]?.data ?? '')).toMatchObject({ id: 'sevt_2', type: 'session.status_running' });
  });

  it('resumes exactly after the last event the client has', async () => {
    const { open, session } = await serve();
    for (let i = 0; i < 250; i++) session.append({ type: 'agent.thinking' });
    const client = await open('', { 'last-event-id': '17.0' });
    session.append({ type: 'session.status_idle' });
    await client.until(({ names }) => names.at(-1) === 'session.status_idle');
    expect(client.messages.map(({ id }) => Number(id?.split('.')[0]))).toEqual(
      Array.from({ length: 251 - 17 }, (_, i) => 18 + i),
    );
  });

  it.each(['abc', '1', '1.2.3', '-1.0'])('refuses the Last-Event-ID %j', async (id) => {
    const { open } = await serve();
    expect((await open('', { 'last-event-id': id })).response.statusCode).toBe(400);
  });

  it('ends after session.deleted, and after session.status_terminated', async () => {
    for (const type of ['session.deleted', 'session.status_terminated'] as const) {
      const { open, session, streams } = await serve();
      const client = await open();
      session.append({ type });
      await client.untilEnd();
      expect(client.names).toEqual([type]);
      await until(() => streams.count === 0 && session.following === 0);
    }
  });

  it('frees everything when the client leaves', async () => {
    const { open, session, streams } = await serve();
    const client = await open();
    await until(() => session.following === 1);
    client.leave();
    await until(() => streams.count === 0 && session.following === 0);
  });

  it('pings when nothing else is sent for a while', async () => {
    const { open, clock, session } = await serve();
    const client = await open();
    clock.advance(5_000);
    session.append({ type: 'session.status_running' });
    await client.until(({ messages }) => messages.length === 1);
    clock.advance(5_000);
    await new Promise(setImmediate);
    clock.advance(5_000);
    await client.until(({ messages }) => messages.length === 2);
    expect(client.names).toEqual(['session.status_running', 'ping']);
    expect(client.messages[1]?.id).toBeUndefined();
  });

  it('ends whole when the server drains, and no other is opened', async () => {
    const { open, server, session } = await serve();
    const client = await open();
    session.append({ type: 'session.status_running' });
    await client.until(({ messages }) => messages.length === 1);
    const drained = server.drain(60_000);
    await client.untilEnd();
    expect(client.response.complete).toBe(true);
    expect((await open()).response.statusCode).toBe(503);
    (server.api.clock as ManualClock).advance(20);
    await drained;
  });
});

describe('a drain', () => {
  it('that only begins leaves streams open, and opens others', async () => {
    const { open, server, session } = await serve();
    const client = await open();
    server.beginDrain();
    const later = await open();
    session.append({ type: 'agent.message' });
    for (const stream of [client, later]) {
      await stream.until(({ messages }) => messages.length > 0);
      expect(stream.names).toEqual(['agent.message']);
    }
  });

  it('lets a stream deliver what is committed before it ends', async () => {
    const { open, server, session } = await serve();
    session.append({ type: 'session.status_idle' }, { type: 'user.message' });
    const clients = [await open(), await open('', { 'last-event-id': '1.0' })];
    await until(() => session.following === 2);
    for (let i = 0; i < 250; i++) session.append({ type: 'agent.thinking' });
    const { seq } = session.append({ type: 'agent.message' }, { type: 'session.status_idle' });
    const drained = server.drain(60_000);
    for (const [index, client] of clients.entries()) {
      await client.untilEnd();
      expect(client.response.complete).toBe(true);
      const first = index === 0 ? 3 : 2;
      const expected = Array.from({ length: seq - first + 1 }, (_, i) => `${first + i}.0`);
      expect(client.messages.map(({ id }) => id)).toEqual(expected);
    }
    (server.api.clock as ManualClock).advance(20);
    await drained;
    expect(session.following).toBe(0);
  });

  it('waits a second for a stream that cannot finish, and then ends it', async () => {
    const { clock, liveBus, session } = await serve();
    let follows = 0;
    const follow: SessionService['follow'] = async (...of) =>
      ++follows === 1 ? session.service.follow(...of) : new Promise(() => {});
    const server = await createTestServer({ sessions: scripted({ follow }), clock, liveBus });
    running.push(server);
    const root = await server.listen(0, '127.0.0.1');
    const client = await StreamClient.open(`${root}/v1/sessions/${sessionId}/events/stream`, sdkHeaders);
    const drained = server.drain(60_000);
    await until(() => follows === 2);
    clock.advance(900);
    await new Promise(setImmediate);
    expect(client.ended).toBe(false);
    clock.advance(100);
    await client.untilEnd();
    expect(client.response.complete).toBe(true);
    clock.advance(20);
    await drained;
  });
});

describe('a stream whose log fails', () => {
  async function failing(error: Error) {
    const clock = new ManualClock();
    const follow: SessionService['follow'] = async () => ({
      at: { seq: 0 as Seq, n: 0 },
      epoch,
      deliveries: (async function* () {
        throw error;
      })(),
    });
    const server = await createTestServer({
      sessions: scripted({ follow }),
      clock,
      liveBus: new EmbeddedLiveBus({ clock }),
    });
    running.push(server);
    const root = await server.listen(0, '127.0.0.1');
    const client = await StreamClient.open(`${root}/v1/sessions/${sessionId}/events/stream`, sdkHeaders);
    await client.untilEnd();
    return client;
  }

  it('for a while, just ends: clients connect again', async () => {
    expect((await failing(new SessionLogError('unavailable', 'away'))).names).toEqual([]);
  });

  it('for good, says so before it ends', async () => {
    const client = await failing(new SessionLogError('stream-broken', 'cannot be folded past seq 7'));
    expect(client.names).toEqual(['error']);
    expect(JSON.parse(client.messages[0]?.data ?? '')).toMatchObject({
      type: 'error',
      error: { type: 'api_error', message: 'cannot be folded past seq 7' },
    });
  });

  it('in a way nobody foresaw, says nothing of it', async () => {
    const client = await failing(new Error('secret-canary'));
    expect(client.names).toEqual(['error']);
    expect(client.messages[0]?.data).not.toContain('secret-canary');
  });
});

describe('previews', () => {
  it('come only where they were asked for', async () => {
    const { open, session, publish } = await serve();
    const [plain, previewing] = [await open(), await open(previews)];
    publish(start('a'));
    publish(text('a', 'Hel'));
    await previewing.until(({ names }) => names.includes('event_delta'));
    session.append({ type: 'agent.message', id: 'sevt_a' });
    await Promise.all(
      [plain, previewing].map((client) => client.until(({ names }) => names.includes('agent.message'))),
    );
    expect(plain.names).toEqual(['agent.message']);
    expect(previewing.names).toEqual(['event_start', 'event_delta', 'agent.message']);
  });

  it.each(['agent.tool_use', 'nonsense', ''])('of %j are refused by name', async (type) => {
    const { open } = await serve();
    const client = await open(`?event_deltas[]=${type}`, {}, { reads: false });
    expect(client.response.statusCode).toBe(400);
    const body = (await client.response.toArray()).join('');
    expect(body).toContain('event_deltas');
  });

  it('of more than 100 values are refused', async () => {
    const { open } = await serve();
    expect((await open(`?${'event_deltas[]=agent.message&'.repeat(101)}`)).response.statusCode).toBe(400);
    expect((await open(`?${'event_deltas[]=agent.message&'.repeat(100)}`)).response.statusCode).toBe(200);
  });

  it('of a message under way begin with all its text so far', async () => {
    const { open, publish } = await serve();
    publish(start('a'));
    publish(text('a', 'Hel'));
    publish(text('a', 'lo'));
    const client = await open(previews);
    publish(text('a', ' you'));
    await client.until(({ names }) => names.length >= 3);
    const deltas = client.messages
      .slice(1)
      .map(({ data }) => JSON.parse(data ?? '') as { delta: { content: { text: string } } });
    expect(client.names[0]).toBe('event_start');
    expect(deltas.map(({ delta }) => delta.content.text).join('')).toBe('Hello you');
  });

  it('on a stream that resumes come after its history', async () => {
    const { open, session, publish } = await serve();
    session.append({ type: 'span.model_request_start' }, { type: 'agent.message' }, { type: 'span.model_request_end' });
    session.append({ type: 'session.status_running' }, { type: 'span.model_request_start' });
    publish(start('b'));
    const client = await open(previews, { 'last-event-id': '0.0' });
    await client.until(({ names }) => names.includes('event_start'));
    expect(client.names.slice(-2)).toEqual(['span.model_request_start', 'event_start']);
  });

  it('never follow their event', async () => {
    const { open, session, publish } = await serve();
    const client = await open(previews);
    publish(start('a'));
    publish(text('a', 'x'));
    session.append({ type: 'agent.message', id: 'sevt_a' });
    publish(text('a', 'y'));
    publish(text('a', 'z'));
    session.append({ type: 'session.status_idle' });
    await client.until(({ names }) => names.includes('session.status_idle'));
    expect(client.names.slice(client.names.indexOf('agent.message'))).toEqual(['agent.message', 'session.status_idle']);
  });
});

describe('grace start', () => {
  const note = ({ streams }: { streams: OpenStreams }, firstSeq: number, apiKeyId = 'apikey_1') =>
    streams.noteClientEvents({ sessionId, apiKeyId }, firstSeq as Seq);

  it('gives a stream that is opened just after client events those events', async () => {
    const served = await serve();
    served.session.append(
      { type: 'session.status_idle' },
      { type: 'user.message' },
      { type: 'session.status_running' },
    );
    await note(served, 2);
    served.clock.advance(1_900);
    const client = await served.open();
    await client.until(({ messages }) => messages.length === 2);
    expect(client.names).toEqual(['user.message', 'session.status_running']);
  });

  it('is over after two seconds, is not for another key, and not for a client that resumes', async () => {
    const served = await serve();
    served.session.append({ type: 'user.message' });
    await note(served, 1);
    const other = await served.open('', { authorization: `Bearer ${otherApiKey}` });
    const resuming = await served.open('', { 'last-event-id': '1.0' });
    served.clock.advance(2_100);
    const late = await served.open();
    served.session.append({ type: 'session.status_idle' });
    for (const client of [other, resuming, late]) {
      await client.until(({ messages }) => messages.length > 0);
      expect(client.names).toEqual(['session.status_idle']);
    }
  });

  it('never shows again what another stream of the key was sent', async () => {
    const served = await serve();
    const first = await served.open();
    served.session.append({ type: 'user.message' });
    await first.until(({ messages }) => messages.length === 1);
    // The answer to the POST comes after the first stream was sent its events.
    await note(served, 1);
    served.session.append({ type: 'session.status_idle' });
    await first.until(({ messages }) => messages.length === 2);
    first.leave();
    await until(() => served.streams.count === 0);
    const second = await served.open();
    served.session.append({ type: 'session.status_running' });
    await second.until(({ messages }) => messages.length > 0);
    expect(second.names).toEqual(['session.status_running']);
  });

  it('holds for ten quick turns, stream first or send first', async () => {
    const served = await serve();
    let seq = 0;
    for (let turn = 0; turn < 10; turn++) {
      const streamFirst = turn % 2 === 0;
      const early = streamFirst ? await served.open() : null;
      served.session.append({ type: 'user.message', id: `sevt_m${turn}` });
      await note(served, seq + 1);
      served.session.append({ type: 'agent.message', id: `sevt_a${turn}` }, { type: 'session.status_idle' });
      seq += 3;
      const client = early ?? (await served.open());
      await client.until(({ names }) => names.includes('session.status_idle'));
      const ids = client.messages.map(({ data }) => (JSON.parse(data ?? '') as { id: string }).id);
      expect(ids).toEqual([`sevt_m${turn}`, `sevt_a${turn}`, `sevt_${seq}`]);
      client.leave();
      // The end of a connection arrives before the client's next request.
      await until(() => served.streams.count === 0);
      served.clock.advance(700);
    }
  });
});

describe('how many streams there may be', () => {
  it('is limited per key and in all, with 429', async () => {
    const { open } = await serve({ maxOpenStreams: 3, maxOpenStreamsPerKey: 2 });
    const other = { authorization: `Bearer ${otherApiKey}` };
    expect((await open()).response.statusCode).toBe(200);
    const second = await open();
    const refused = await open();
    expect(refused.response.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect((await open('', other)).response.statusCode).toBe(200);
    expect((await open('', other)).response.statusCode).toBe(429);
    second.leave();
    await until(() => second.ended);
    let reopened = await open();
    while (reopened.response.statusCode === 429) reopened = await open();
    expect(reopened.response.statusCode).toBe(200);
  });

  it('may be thousands, each of which gets every event', async () => {
    const { open, session, streams, clock } = await serve();
    const count = 2_000;
    const clients: StreamClient[] = [];
    while (clients.length < count) {
      clients.push(...(await Promise.all(Array.from({ length: 100 }, () => open()))));
    }
    expect(streams.count).toBe(count);
    session.append({ type: 'session.status_running' });
    await Promise.all(clients.map((client) => client.until(({ messages }) => messages.length === 1)));
    clock.advance(10_000);
    await Promise.all(clients.map((client) => client.until(({ names }) => names.includes('ping'))));
    session.append({ type: 'session.deleted' });
    await Promise.all(clients.map((client) => client.untilEnd()));
    await until(() => streams.count === 0 && session.following === 0);
  }, 60_000);
});

describe('a client that never reads', () => {
  /** Asks for a stream and takes nothing of it, not even into the buffers of its own process. */
  async function openWithoutReading({ server }: { server: TestServer }) {
    const { port } = (server.app.getHttpServer() as Server).address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1' });
    socket.pause();
    socket.on('error', () => {});
    await once(socket, 'connect');
    const lines = [`GET /v1/sessions/${sessionId}/events/stream?event_deltas[]=agent.message HTTP/1.1`, 'host: x'];
    socket.write(
      `${[...lines, `x-api-key: ${apiKey}`, `anthropic-beta: ${sdkHeaders['anthropic-beta']}`].join('\r\n')}\r\n\r\n`,
    );
    return socket;
  }
  const large: Partial<SessionEvent> = { type: 'agent.message', content: [{ type: 'text', text: 'x'.repeat(10_000) }] };

  it('stops the reading of the log, and others read on', async () => {
    const served = await serve();
    const { session } = served;
    await openWithoutReading(served);
    await until(() => session.following === 1);
    const reader = await served.open();
    for (let i = 0; i < 5_000; i++) session.append(large);
    await reader.until(({ messages }) => messages.length === 5_000);
    const takenByBoth = session.taken;
    for (let i = 0; i < 1_000; i++) session.append(large);
    await reader.until(({ messages }) => messages.length === 6_000);
    expect(session.taken).toBe(takenByBoth + 1_000);
    expect(takenByBoth).toBeLessThan(8_000);
  }, 30_000);

  it('is cut after a while, and everything is freed', async () => {
    const served = await serve({ streamStallLimitMs: 200 });
    const { session, streams, server } = served;
    const socket = await openWithoutReading(served);
    const closed = once(socket, 'close');
    await until(() => session.following === 1);
    for (let i = 0; i < 5_000; i++) session.append(large);
    await until(() => streams.count === 0 && session.following === 0);
    expect((await server.inject({ url: '/metrics' })).body).toContain('streams_cut_total{service="test"} 1');
    socket.resume();
    await closed;
  }, 30_000);
});
