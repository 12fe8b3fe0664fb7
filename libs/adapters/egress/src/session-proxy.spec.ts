import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Bench, connectAnswer, limited, throughProxy, unrestricted } from './testing/proxies.ts';
import { httpServer, RawClient, tcpServer } from './testing/servers.ts';

let bench: Bench;
beforeEach(() => void (bench = new Bench()));
afterEach(() => bench.close());

describe('who may be reached', () => {
  const reserved = {
    'loopback.test': ['127.0.0.1'],
    'private.test': ['10.1.2.3'],
    'metadata.test': ['169.254.169.254'],
    'linklocal.test': ['fe80::1'],
    'ula.test': ['fd00::1'],
    'mapped.test': ['::ffff:192.168.0.1'],
    'nat64.test': ['64:ff9b::a00:1'],
    'multicast.test': ['224.0.0.1'],
    'nat.test': ['100.64.0.1'],
    'zero.test': ['0.0.0.0'],
    'own.test': ['203.0.114.5'],
  };

  it.each(Object.keys(reserved))('refuses %s after resolving it', async (host) => {
    const { proxy, socketPath } = await bench.opened({ names: reserved, ownAddresses: () => ['203.0.114.5'] });
    const answer = await throughProxy(socketPath, `http://${host}/`);
    expect([answer.statusCode, answer.headers['x-egress-refused']]).toEqual([403, 'address_not_allowed']);
    expect(await text(answer)).not.toMatch(/\d+\.\d+\.\d+/);
    expect(await connectAnswer(socketPath, `${host}:443`)).toMatch(
      /^HTTP\/1\.1 403 Egress refused: address_not_allowed/,
    );
    expect(proxy.counters.refused.address_not_allowed).toBe(2);
  });

  it.each([
    ['127.0.0.1'],
    ['2130706433'],
    ['0x7f000001'],
    ['0177.0.0.1'],
    ['127.1'],
    ['0'],
    ['[::1]'],
    ['[::ffff:127.0.0.1]'],
    ['[::127.0.0.1]'],
    ['169.254.169.254'],
    ['2852039166'],
    ['localhost.'],
  ])('refuses the literal %s in every notation', async (host) => {
    const { socketPath } = await bench.opened({ resolve: async () => ['127.0.0.1'] });
    expect((await throughProxy(socketPath, `http://${host}:1/`)).statusCode).toBe(403);
    expect(await connectAnswer(socketPath, `${host}:1`)).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('leaves out the refused addresses of a name and uses the rest', async () => {
    const server = await bench.serving(httpServer((_, response) => response.end('reached')));
    const { socketPath } = await bench.opened({
      allow: ['127.0.0.1'],
      names: { 'mixed.test': ['10.0.0.1', '169.254.169.254', '127.0.0.1'] },
    });
    expect(await text(await throughProxy(socketPath, `http://mixed.test:${server.port}/`))).toBe('reached');
  });

  it('connects to the address that was judged, whatever the name says afterwards', async () => {
    const asked: string[] = [];
    const server = await bench.serving(httpServer((_, response) => response.end('the judged one')));
    const { socketPath } = await bench.opened({
      allow: [`127.0.0.1:${server.port}`],
      resolve: async (host) => {
        asked.push(host);
        return asked.length === 1 ? ['127.0.0.1'] : ['127.0.0.2'];
      },
    });
    const url = `http://rebind.test:${server.port}/`;
    expect(await text(await throughProxy(socketPath, url))).toBe('the judged one');
    expect(asked).toHaveLength(1);
    expect((await throughProxy(socketPath, url)).statusCode).toBe(403);
  });

  it('asks for the policy at each connection and resolves nothing that it refuses', async () => {
    const asked: string[] = [];
    const server = await bench.serving(httpServer((_, response) => response.end('ok')));
    const proxy = bench.proxy({
      allow: ['127.0.0.1'],
      resolve: async (host) => {
        asked.push(host);
        return ['127.0.0.1'];
      },
    });
    let networking = limited('*.allowed.test');
    const { socketPath } = await proxy.open('sesn_test', () => networking);
    const status = async (host: string) =>
      (await throughProxy(socketPath, `http://${host}:${server.port}/`)).statusCode;
    expect(await status('a.b.Allowed.test.')).toBe(200);
    expect(await status('allowed.test')).toBe(403);
    expect(await status('127.0.0.1')).toBe(403);
    expect(asked).toEqual(['a.b.allowed.test']);
    networking = limited('allowed.test');
    expect(await status('allowed.test')).toBe(200);
    expect(await status('a.b.allowed.test')).toBe(403);
    expect(proxy.counters.refused.host_not_allowed).toBe(3);
  });

  it('does not let a limited environment widen the address rules', async () => {
    const { socketPath } = await bench.opened(
      { names: { 'allowed.test': ['10.0.0.1'] } },
      limited('allowed.test', '127.0.0.1'),
    );
    expect(await connectAnswer(socketPath, 'allowed.test:80')).toContain('address_not_allowed');
    expect(await connectAnswer(socketPath, '127.0.0.1:80')).toContain('address_not_allowed');
  });

  it('refuses everything while the policy cannot be read', async () => {
    const proxy = bench.proxy({ allow: ['127.0.0.1'] });
    const { socketPath } = await proxy.open('sesn_test', () => Promise.reject(new Error('no state')));
    expect(await connectAnswer(socketPath, '127.0.0.1:80')).toMatch(/^HTTP\/1\.1 503 .*policy_unavailable/);
  });
});

describe('failures and limits', () => {
  it('says what failed: no such name, nobody there, no answer in time', async () => {
    const server = await httpServer(() => undefined);
    await server.close();
    const { proxy, socketPath } = await bench.opened({
      allow: ['127.0.0.1'],
      connectTimeoutMs: 100,
      resolve: async (host) => {
        if (host === 'gone.test') throw Object.assign(new Error('secret detail'), { code: 'ENOTFOUND' });
        return host === 'slow.test' ? new Promise<string[]>(() => undefined) : [];
      },
    });
    expect(await connectAnswer(socketPath, 'gone.test:80')).toMatch(/^HTTP\/1\.1 502 .*name_not_resolved[^]*ENOTFOUND/);
    expect(await connectAnswer(socketPath, 'empty.test:80')).toMatch(/^HTTP\/1\.1 502 .*name_not_resolved/);
    expect(await connectAnswer(socketPath, 'slow.test:80')).toMatch(/^HTTP\/1\.1 504 .*connect_timeout/);
    expect(await connectAnswer(socketPath, `127.0.0.1:${server.port}`)).toMatch(/^HTTP\/1\.1 502 [^]*ECONNREFUSED/);
    expect(proxy.counters.refused).toMatchObject({ name_not_resolved: 2, connect_timeout: 1, connect_failed: 1 });
  });

  it('gives up on a header that never ends', async () => {
    const { proxy, socketPath } = await bench.opened({ limits: { headerTimeoutMs: 100 } });
    const slow = new RawClient(socketPath).send('GET http://example.com/ HTTP/1.1\r\nX-Slow: ');
    const drip = setInterval(() => slow.send('x'), 20);
    const silent = new RawClient(socketPath);
    expect(await slow.rest()).toMatch(/^(HTTP\/1\.1 408 .*|$)/);
    clearInterval(drip);
    await silent.rest();
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0));
  });

  it('answers 504 for a host that falls silent, and cuts an idle tunnel', async () => {
    const server = await bench.serving(tcpServer(() => undefined));
    const { proxy, socketPath } = await bench.opened({ allow: ['127.0.0.1'], limits: { idleTimeoutMs: 100 } });
    const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`);
    expect([answer.statusCode, await text(answer)]).toEqual([504, expect.stringContaining('upstream_timeout')]);
    const client = new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`);
    expect(await client.rest()).toBe('HTTP/1.1 200 Connection Established\r\n\r\n');
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0));
  });

  it('bounds the connections of a session and leaves its neighbour alone', async () => {
    const server = await bench.serving(httpServer((_, response) => response.end('served')));
    const proxy = bench.proxy({ allow: ['127.0.0.1'], limits: { maxConnections: 20 } });
    const [greedy, neighbour] = await Promise.all(
      ['sesn_greedy', 'sesn_neighbour'].map((key) => proxy.open(key, () => unrestricted)),
    );
    const clients: RawClient[] = [];
    for (let wave = 1; wave <= 10; wave++) {
      // A listener holds at most some hundred connections that were not yet accepted.
      for (let count = 0; count < 200; count++) clients.push(new RawClient(greedy?.socketPath ?? ''));
      await vi.waitFor(() => expect(clients.filter((client) => !client.hasEnded)).toHaveLength(20 + 32), 5_000);
    }
    expect(proxy.openConnections).toBe(20 + 32);
    expect(proxy.counters.droppedConnections).toBe(2_000 - 20 - 32);
    const url = `http://127.0.0.1:${server.port}/`;
    expect(await text(await throughProxy(neighbour?.socketPath ?? '', url))).toBe('served');
    for (const client of clients) client.socket.destroy();
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0), 5_000);
    expect(await text(await throughProxy(greedy?.socketPath ?? '', url))).toBe('served');
  }, 20_000);

  it('says so to a connection just above the limit', async () => {
    const { proxy, socketPath } = await bench.opened({ limits: { maxConnections: 3 } });
    const clients = Array.from({ length: 3 }, () => new RawClient(socketPath));
    await vi.waitFor(() => expect(proxy.openConnections).toBe(3));
    expect(await connectAnswer(socketPath, 'example.com:80')).toMatch(/^HTTP\/1\.1 503 .*too_many_connections/);
    for (const client of clients) client.socket.destroy();
  });

  it('logs refusals without paths, queries or fields, and a bounded number of them', async () => {
    const lines: string[] = [];
    const write = (fields: object, message: string) => void lines.push(JSON.stringify({ ...fields, message }));
    const logger = { debug: write, info: write, warn: write, error: write };
    const { proxy, socketPath } = await bench.opened({ logger, names: { 'private.test': ['10.0.0.1'] } });
    const url = 'http://private.test/path-canary?query-canary';
    for (let count = 0; count < 50; count++) {
      await throughProxy(socketPath, url, { method: 'POST', headers: { 'x-a': 'field-canary' }, body: 'body-canary' });
    }
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      sessionId: 'sesn_test',
      reason: 'address_not_allowed',
      method: 'POST',
      host: 'private.test',
      port: 80,
      message: 'egress refused',
    });
    expect(lines.join()).not.toContain('canary');
    expect(lines).toHaveLength(30);
    expect(proxy.counters.refused.address_not_allowed).toBe(50);
  });
});
