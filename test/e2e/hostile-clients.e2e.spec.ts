/** Clients that open too much, read nothing or never finish: the others are served in time, and memory stays bounded. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { script } from '@manyhands/adapter-scripted-model';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../support/conditions.ts';
import { message, type Conversation } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';
import { betaHeaders } from '../support/raw-stream.ts';

const streams = 2_000;
const megabyte = 1024 * 1024;
/** What a person would still call an answer in time, on a small machine that does other things too. */
const promptMs = 10_000;

describe('among hostile clients', () => {
  const platform = usePlatform();
  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

  async function open(text: string): Promise<Socket> {
    const socket = connect(Number(new URL(platform.server.url).port), '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {}); // The server may cut what is hostile.
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  }

  function streamRequest(sessionId: string, more: Record<string, string> = {}): string {
    const headers = { host: 'x', ...betaHeaders, authorization: `Bearer ${platform.server.apiKey}`, ...more };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `GET /v1/sessions/${sessionId}/events/stream HTTP/1.1\r\n${lines.join('')}\r\n`;
  }

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${platform.server.url}/metrics`)).text();
    return Number(new RegExp(`^(?:manyhands_)?${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
  }

  async function expectPrompt(conversation: Conversation): Promise<void> {
    const begun = performance.now();
    const idle = await conversation.play([[{ text: 'Prompt.' }]]);
    expect(idle.stop_reason.type).toBe('end_turn');
    await conversation.history();
    expect(performance.now() - begun).toBeLessThan(promptMs);
  }

  it('thousands of open streams hurt nobody, and each of them is served', async () => {
    const [watched, other] = [await platform.session(), await platform.session()];
    const received = new Array<string>(streams).fill('');
    for (let n = 0; n < streams; n++) {
      const socket = await open(streamRequest(watched.id));
      socket.on('data', (chunk) => (received[n] += chunk.toString()));
    }
    await until('all streams to be open', () =>
      Promise.resolve(received.every((text) => text.startsWith('HTTP/1.1 200'))),
    );
    expect(await metric('http_streams_open')).toBeGreaterThanOrEqual(streams);
    await expectPrompt(other);
    await watched.play([[{ text: 'To all of you.' }]]);
    await until('all streams to be served', () =>
      Promise.resolve(received.every((text) => text.includes('event: session.status_idle'))),
    );
    expect(received.filter((text) => !text.includes('To all of you.'))).toEqual([]);
    await expectPrompt(other);
    sockets.splice(0).forEach((socket) => socket.destroy());
    await until('their places to be free', async () => (await metric('http_streams_open')) <= 2);
  });

  it('those who read nothing of a large stream cost a bounded amount of memory', async () => {
    const [large, other] = [await platform.session({ record: false }), await platform.session()];
    const stream = await platform.client.beta.sessions.events.stream(large.id);
    // Sixteen megabytes twice: once as they were sent, and once as they were taken.
    const texts = Array.from({ length: 64 }, () => 'x'.repeat(megabyte / 4));
    await large.send(...texts.map(message), message(script([[{ text: 'Taken.' }]])));
    for await (const event of stream) if (event.type === 'session.status_idle') break;
    await expectPrompt(other);

    const before = await metric('process_resident_memory_bytes');
    // Without a bound, each of these would hold all of that.
    for (let n = 0; n < 60; n++) (await open(streamRequest(large.id, { 'last-event-id': '0.0' }))).pause();
    await until('the streams to be open', async () => (await metric('http_streams_open')) >= 60);
    await expectPrompt(other);
    for (let round = 0; round < 3; round++) await expectPrompt(other);
    expect((await metric('process_resident_memory_bytes')) - before).toBeLessThan(700 * megabyte);
  });

  it('those who begin a request and never end it are left alone', async () => {
    const conversation = await platform.session();
    for (let n = 0; n < 200; n++) {
      await open('POST /v1/sessions HTTP/1.1\r\nhost: x\r\n');
      const body = `authorization: Bearer ${platform.server.apiKey}\r\ncontent-type: application/json\r\n`;
      await open(`POST /v1/agents HTTP/1.1\r\nhost: x\r\n${body}content-length: 100000\r\n\r\n{"name":`);
    }
    await expectPrompt(conversation);
  });

  it('those who speak no HTTP get an answer that ends, and nobody else notices', async () => {
    const conversation = await platform.session();
    for (const noise of ['hello\r\n\r\n', '\u0000\u0001\u0002', 'GET / HTTP/9.9\r\n\r\n', 'GET  HTTP/1.1\r\n\r\n']) {
      const socket = await open(noise);
      socket.resume();
      await once(socket, 'close');
    }
    await open(`GET /v1/sessions HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(200_000)}\r\n\r\n`);
    await expectPrompt(conversation);
  });

  it('those who come and go in the middle of everything leave nothing behind', async () => {
    const conversation = await platform.session();
    const turns = Array.from({ length: 8 }, (_, n) => [{ tool: 'bash', input: { command: `echo ${n}` } }]);
    const idle = conversation.untilIdle(() => conversation.start([...turns, [{ text: 'Done.' }]]));
    for (let n = 0; n < 300; n++) {
      const socket = await open(streamRequest(conversation.id, { 'last-event-id': '0.0' }));
      if (n % 3 > 0) await once(socket, 'data');
      socket.destroy();
    }
    expect((await idle).stop_reason.type).toBe('end_turn');
    await until('their places to be free', async () => (await metric('http_streams_open')) <= 1);
  });
});
