import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { connect as tlsConnect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Bench, connectAnswer } from './testing/proxies.ts';
import { certificate, httpsServer, RawClient, tcpServer } from './testing/servers.ts';

let bench: Bench;
beforeEach(() => void (bench = new Bench()));
afterEach(() => bench.close());

describe('CONNECT', () => {
  it('carries TLS to the host, end to end', async () => {
    const server = await bench.serving(httpsServer((_, response) => response.end('secret greetings')));
    const { proxy, socketPath } = await bench.opened({
      allow: [`secure.test:${server.port}`],
      names: { 'secure.test': ['127.0.0.1'] },
    });
    const raw = new RawClient(socketPath).send(`CONNECT secure.test:${server.port} HTTP/1.1\r\n\r\n`);
    await raw.until((received) => received.includes('\r\n\r\n'));
    raw.socket.removeAllListeners('data');
    const secure = tlsConnect({ socket: raw.socket, servername: 'secure.test', ca: certificate });
    secure.write('GET / HTTP/1.1\r\nHost: secure.test\r\nConnection: close\r\n\r\n');
    expect(await text(secure)).toContain('secret greetings');
    expect(secure.authorized).toBe(true);
    expect(proxy.counters.allowed).toBe(1);
  });

  it('passes on what was sent together with the request', async () => {
    const server = await bench.serving(tcpServer((socket) => socket.pipe(socket)));
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\nearly bytes`);
    expect(await client.until((received) => received.endsWith('early bytes'))).toMatch(/^HTTP\/1\.1 200 /);
    client.socket.destroy();
  });

  it('lets one side end while the other goes on', async () => {
    const server = await bench.serving(
      tcpServer((socket) => void text(socket).then((whole) => socket.end(`got ${whole.length}`))),
    );
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`);
    await client.until((received) => received.includes('\r\n\r\n'));
    client.send('x'.repeat(1_000_000)).socket.end();
    expect(await client.rest()).toMatch(/got 1000000$/);
  });

  it('carries megabytes both ways with backpressure', async () => {
    const payload = randomBytes(4 * 1024 * 1024).toString('hex');
    const server = await bench.serving(tcpServer((socket) => socket.pipe(socket)));
    const { proxy, socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`);
    await client.until((received) => received.includes('\r\n\r\n'));
    client.send(payload).socket.end();
    const received = await client.rest();
    expect(received.slice(received.indexOf('\r\n\r\n') + 4) === payload).toBe(true);
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0));
  });

  it('ends the tunnel when the host breaks off', async () => {
    const server = await bench.serving(tcpServer((socket) => socket.resetAndDestroy()));
    const { proxy, socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    await new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`).rest();
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0));
  });

  it.each([['host'], ['host:'], ['host:0'], ['host:70000'], ['http://host:80'], ['a@b:80'], ['::1:80'], [':80']])(
    'answers 400 to the target %s',
    async (authority) => {
      const { socketPath } = await bench.opened({});
      expect(await connectAnswer(socketPath, authority)).toMatch(/^HTTP\/1\.1 400 /);
    },
  );
});
