import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as tlsConnect } from 'node:tls';
import { silentLogger, type Logger } from '@manyhands/ports';
import type { Networking } from '@manyhands/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AllowList } from './allow-list.ts';
import { EgressProxy } from './egress-proxy.ts';
import { Outbound, type OutboundOptions } from './outbound.ts';
import type { ProxyLimits } from './session-proxy.ts';
import { certificate, httpServer, httpsServer, RawClient, tcpServer, type LocalServer } from './testing/servers.ts';

const unrestricted: Networking = { type: 'unrestricted' };
const limited = (...allowed_hosts: string[]): Networking => ({
  type: 'limited',
  allowed_hosts,
  allow_mcp_servers: false,
  allow_package_managers: false,
});

let directory: string;
const closing: (() => Promise<void>)[] = [];

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'egress-'));
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(directory, { recursive: true, force: true });
});

function remember<T extends LocalServer>(server: T): T {
  closing.push(() => server.close());
  return server;
}

interface Setting extends Partial<Omit<OutboundOptions, 'allowList'>> {
  allow?: string[];
  names?: Record<string, string[]>;
  limits?: Partial<ProxyLimits>;
  logger?: Logger;
}

function proxyWith({ allow = [], names = {}, limits = {}, logger = silentLogger, ...outbound }: Setting): EgressProxy {
  const proxy = new EgressProxy({
    directory,
    logger,
    limits,
    outbound: new Outbound({
      allowList: new AllowList(allow),
      resolve: async (host) => names[host] ?? Promise.reject(Object.assign(new Error(host), { code: 'ENOTFOUND' })),
      ...outbound,
    }),
  });
  closing.push(() => proxy.closeAll());
  return proxy;
}

async function opened(setting: Setting, networking: Networking = unrestricted) {
  const proxy = proxyWith(setting);
  const { socketPath } = await proxy.open('sesn_test', () => networking);
  return { proxy, socketPath };
}

/** What a client with `http_proxy` set sends. */
function throughProxy(
  socketPath: string,
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const request = httpRequest({ socketPath, path: url, method, headers, agent: false }, resolve);
    request.on('error', reject);
    request.end(body);
  });
}

async function connectAnswer(socketPath: string, authority: string): Promise<string> {
  return new RawClient(socketPath).send(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`).rest();
}

describe('CONNECT', () => {
  it('carries TLS to the host, end to end', async () => {
    const server = remember(await httpsServer((_, response) => response.end('secret greetings')));
    const { proxy, socketPath } = await opened({
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
    const server = remember(await tcpServer((socket) => socket.pipe(socket)));
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\nearly bytes`);
    expect(await client.until((received) => received.endsWith('early bytes'))).toMatch(/^HTTP\/1\.1 200 /);
    client.socket.destroy();
  });

  it('lets one side end while the other goes on', async () => {
    const server = remember(
      await tcpServer((socket) => void text(socket).then((whole) => socket.end(`got ${whole.length}`))),
    );
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`);
    await client.until((received) => received.includes('\r\n\r\n'));
    client.send('x'.repeat(1_000_000)).socket.end();
    expect(await client.rest()).toMatch(/got 1000000$/);
  });

  it('carries megabytes both ways with backpressure', async () => {
    const payload = randomBytes(4 * 1024 * 1024).toString('hex');
    const server = remember(await tcpServer((socket) => socket.pipe(socket)));
    const { proxy, socketPath } = await opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`);
    await client.until((received) => received.includes('\r\n\r\n'));
    client.send(payload).socket.end();
    const received = await client.rest();
    expect(received.slice(received.indexOf('\r\n\r\n') + 4) === payload).toBe(true);
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0));
  });

  it('ends the tunnel when the host breaks off', async () => {
    const server = remember(await tcpServer((socket) => socket.resetAndDestroy()));
    const { proxy, socketPath } = await opened({ allow: ['127.0.0.1'] });
    await new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`).rest();
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0));
  });

  it.each([['host'], ['host:'], ['host:0'], ['host:70000'], ['http://host:80'], ['a@b:80'], ['::1:80'], [':80']])(
    'answers 400 to the target %s',
    async (authority) => {
      const { socketPath } = await opened({});
      expect(await connectAnswer(socketPath, authority)).toMatch(/^HTTP\/1\.1 400 /);
    },
  );
});

describe('plain HTTP', () => {
  it('forwards a request with its fields and streams the answer', async () => {
    const server = remember(
      await httpServer((request, response) => {
        response.writeHead(207, 'Odd', [
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
          ['X-Path', request.url ?? ''],
        ]);
        response.write('first ');
        setTimeout(() => response.end(JSON.stringify(request.rawHeaders)), 20);
      }),
    );
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/a%20b/?q=1&r=%2f#none`, {
      headers: {
        Host: 'other.example',
        'X-Kept': 'yes',
        'Proxy-Authorization': 'Basic c2VjcmV0',
        'Proxy-Connection': 'keep-alive',
        Connection: 'keep-alive, X-Dropped',
        'X-Dropped': 'yes',
        TE: 'trailers',
        'Keep-Alive': 'timeout=5',
        Upgrade: 'h2c',
        'HTTP2-Settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
      },
    });
    expect([answer.statusCode, answer.statusMessage]).toEqual([207, 'Odd']);
    expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(answer.headers['x-path']).toBe('/a%20b/?q=1&r=%2f');
    const [first, json = ''] = (await text(answer)).split(' ', 2);
    expect(first).toBe('first');
    expect(JSON.parse(json)).toEqual([
      ...['Host', `127.0.0.1:${server.port}`],
      ...['X-Kept', 'yes'],
      ...['Connection', 'close'],
    ]);
  });

  it.each([
    ['POST', { 'Content-Length': '5' }],
    ['POST', { 'Transfer-Encoding': 'chunked' }],
    ['GET', { 'Transfer-Encoding': 'chunked' }],
    ['PUT', { 'Content-Length': '5' }],
    ['DELETE', { 'Content-Length': '5' }],
    ['POST', { 'Content-Length': '5', Connection: 'content-length' }],
  ])('forwards the body of a %s with %j', async (method, headers) => {
    const server = remember(
      await httpServer(
        (request, response) => void text(request).then((body) => response.end(`${request.method} ${body}`)),
      ),
    );
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`, {
      method,
      headers,
      body: 'hello',
    });
    expect(await text(answer)).toBe(`${method} hello`);
  });

  it('keeps a chunked GET one request for the host', async () => {
    const seen: string[] = [];
    const server = remember(
      await httpServer((request, response) => {
        seen.push(`${request.method} ${request.url}`);
        request.resume().on('end', () => response.end('ok'));
      }),
    );
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    const inner = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    const url = `http://127.0.0.1:${server.port}/outer`;
    await throughProxy(socketPath, url, { headers: { 'Transfer-Encoding': 'chunked' }, body: inner });
    expect(seen).toEqual(['GET /outer']);
  });

  it('forwards requests without a body, and answers without one', async () => {
    const server = remember(
      await httpServer((request, response) => {
        const { 'content-length': length = 'none', 'transfer-encoding': coding = 'none' } = request.headers;
        response.writeHead(request.url === '/empty' ? 204 : 200, { 'x-framing': `${length} ${coding}` });
        response.end();
      }),
    );
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    const base = `http://127.0.0.1:${server.port}`;
    const framing = async (method: string, at = '/') => {
      const answer = await throughProxy(socketPath, base + at, { method });
      expect(await text(answer)).toBe('');
      return answer.headers['x-framing'];
    };
    expect(await framing('GET')).toBe('none none');
    expect(await framing('HEAD')).toBe('none none');
    expect(await framing('POST')).toMatch(/^0 none$/);
    expect(await framing('GET', '/empty')).toBe('none none');
  });

  it('keeps the length that a HEAD tells', async () => {
    const server = remember(await httpServer((_, response) => void response.setHeader('content-length', '4096').end()));
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`, { method: 'HEAD' });
    expect(answer.headers['content-length']).toBe('4096');
  });

  it('serves several requests of one connection, each judged by itself', async () => {
    const server = remember(await httpServer((request, response) => response.end(`page ${request.url}`)));
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath);
    client.send(`GET http://127.0.0.1:${server.port}/1 HTTP/1.1\r\nHost: x\r\n\r\n`);
    await client.until((received) => received.includes('page /1'));
    client.send('GET http://10.0.0.1/2 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await client.rest()).toMatch(/address_not_allowed/);
  });

  it('hands on the answer of a host that does not read the whole body', async () => {
    const server = remember(
      await tcpServer((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig'));
      }),
    );
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath);
    client.send(`POST http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n`);
    client.send('x'.repeat(1000));
    await client.until((received) => received.endsWith('big'));
    client.socket.destroy();
  });

  it('answers 502 when the host speaks no HTTP, switches protocols unasked, or hangs up', async () => {
    const answers = [
      'SSH-2.0-OpenSSH_9.6\r\n',
      'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '',
    ];
    const server = remember(await tcpServer((socket) => socket.once('data', () => socket.end(answers.shift() ?? ''))));
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    while (answers.length > 0) {
      const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`);
      expect([answer.statusCode, await text(answer)]).toEqual([502, expect.stringContaining('upstream_failed')]);
    }
  });

  it('cuts the answer short when the host does', async () => {
    const server = remember(
      await tcpServer((socket) =>
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
      ),
    );
    const { socketPath } = await opened({ allow: ['127.0.0.1'] });
    const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`);
    await expect(text(answer)).rejects.toThrow('aborted');
  });

  it('leaves the host when the client leaves', async () => {
    const left = Promise.withResolvers<void>();
    const server = remember(
      await httpServer((request, response) => {
        request.socket.once('close', left.resolve);
        response.write('begin');
      }),
    );
    const { proxy, socketPath } = await opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath);
    client.send(`GET http://127.0.0.1:${server.port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
    await client.until((received) => received.includes('begin'));
    client.socket.destroy();
    await left.promise;
    expect(Object.values(proxy.counters.refused).every((count) => count === 0)).toBe(true);
  });

  it.each([
    ['GET / HTTP/1.1\r\nHost: example.com\r\n\r\n', 400, 'bad_target'],
    ['GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n', 400, 'CONNECT'],
    ['GET ftp://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n', 400, 'bad_target'],
    ['GET http://user:pass@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n', 400, 'credentials'],
    ['GET http:// HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'bad_target'],
    ['OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'bad_target'],
    [
      'GET http://example.com/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      501,
      'not_supported',
    ],
    [
      'POST http://example.com/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      501,
      'not_supported',
    ],
    [
      'POST http://example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      '',
    ],
    ['POST http://example.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc', 400, ''],
    ['GET http://example.com/ HTTP/1.1\r\nHost: x\r\nX-Bad: a\r\n folded\r\n\r\n', 400, ''],
    ['GET http://example.com/ HTTP/1.1\nHost: x\n\n', 400, ''],
    ['nonsense\r\n\r\n', 400, ''],
    ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, ''],
  ])('answers %j with %i', async (request, status, reason) => {
    const { socketPath } = await opened({ names: { 'example.com': ['10.0.0.1'] } });
    const received = await new RawClient(socketPath).send(request).rest();
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(received).toContain(reason);
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('answers 431 to a header that is too long', async () => {
    const { socketPath } = await opened({});
    const long = `GET http://example.com/ HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`;
    expect(await new RawClient(socketPath).send(long).rest()).toMatch(/^HTTP\/1\.1 431 /);
  });
});

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
    const { proxy, socketPath } = await opened({ names: reserved, ownAddresses: () => ['203.0.114.5'] });
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
    const { socketPath } = await opened({ resolve: async () => ['127.0.0.1'] });
    expect((await throughProxy(socketPath, `http://${host}:1/`)).statusCode).toBe(403);
    expect(await connectAnswer(socketPath, `${host}:1`)).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('leaves out the refused addresses of a name and uses the rest', async () => {
    const server = remember(await httpServer((_, response) => response.end('reached')));
    const { socketPath } = await opened({
      allow: ['127.0.0.1'],
      names: { 'mixed.test': ['10.0.0.1', '169.254.169.254', '127.0.0.1'] },
    });
    expect(await text(await throughProxy(socketPath, `http://mixed.test:${server.port}/`))).toBe('reached');
  });

  it('connects to the address that was judged, whatever the name says afterwards', async () => {
    const asked: string[] = [];
    const server = remember(await httpServer((_, response) => response.end('the judged one')));
    const { socketPath } = await opened({
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
    const server = remember(await httpServer((_, response) => response.end('ok')));
    const proxy = proxyWith({
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
    const { socketPath } = await opened(
      { names: { 'allowed.test': ['10.0.0.1'] } },
      limited('allowed.test', '127.0.0.1'),
    );
    expect(await connectAnswer(socketPath, 'allowed.test:80')).toContain('address_not_allowed');
    expect(await connectAnswer(socketPath, '127.0.0.1:80')).toContain('address_not_allowed');
  });

  it('refuses everything while the policy cannot be read', async () => {
    const proxy = proxyWith({ allow: ['127.0.0.1'] });
    const { socketPath } = await proxy.open('sesn_test', () => Promise.reject(new Error('no state')));
    expect(await connectAnswer(socketPath, '127.0.0.1:80')).toMatch(/^HTTP\/1\.1 503 .*policy_unavailable/);
  });
});

describe('failures and limits', () => {
  it('says what failed: no such name, nobody there, no answer in time', async () => {
    const server = await httpServer(() => undefined);
    await server.close();
    const { proxy, socketPath } = await opened({
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
    const { proxy, socketPath } = await opened({ limits: { headerTimeoutMs: 100 } });
    const slow = new RawClient(socketPath).send('GET http://example.com/ HTTP/1.1\r\nX-Slow: ');
    const drip = setInterval(() => slow.send('x'), 20);
    const silent = new RawClient(socketPath);
    expect(await slow.rest()).toMatch(/^(HTTP\/1\.1 408 .*|$)/);
    clearInterval(drip);
    await silent.rest();
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0));
  });

  it('answers 504 for a host that falls silent, and cuts an idle tunnel', async () => {
    const server = remember(await tcpServer(() => undefined));
    const { proxy, socketPath } = await opened({ allow: ['127.0.0.1'], limits: { idleTimeoutMs: 100 } });
    const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`);
    expect([answer.statusCode, await text(answer)]).toEqual([504, expect.stringContaining('upstream_timeout')]);
    const client = new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`);
    expect(await client.rest()).toBe('HTTP/1.1 200 Connection Established\r\n\r\n');
    await vi.waitFor(() => expect(proxy.openConnections).toBe(0));
  });

  it('bounds the connections of a session and leaves its neighbour alone', async () => {
    const server = remember(await httpServer((_, response) => response.end('served')));
    const proxy = proxyWith({ allow: ['127.0.0.1'], limits: { maxConnections: 20 } });
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
    const { proxy, socketPath } = await opened({ limits: { maxConnections: 3 } });
    const clients = Array.from({ length: 3 }, () => new RawClient(socketPath));
    await vi.waitFor(() => expect(proxy.openConnections).toBe(3));
    expect(await connectAnswer(socketPath, 'example.com:80')).toMatch(/^HTTP\/1\.1 503 .*too_many_connections/);
    for (const client of clients) client.socket.destroy();
  });

  it('logs refusals without paths, queries or fields, and a bounded number of them', async () => {
    const lines: string[] = [];
    const write = (fields: object, message: string) => void lines.push(JSON.stringify({ ...fields, message }));
    const logger = { debug: write, info: write, warn: write, error: write };
    const { proxy, socketPath } = await opened({ logger, names: { 'private.test': ['10.0.0.1'] } });
    const url = 'http://private.test/path-canary?query-canary';
    for (let count = 0; count < 50; count++) {
      await throughProxy(socketPath, url, { method: 'POST', headers: { 'x-a': 'field-canary' }, body: 'body-canary' });
    }
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      session: 'sesn_test',
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

describe('the sockets', () => {
  it('are one short path per session, the same each time', async () => {
    const proxy = proxyWith({});
    const long = `sesn_${'x'.repeat(500)}`;
    const [first, again, other] = await Promise.all([
      proxy.open(long, () => unrestricted),
      proxy.open(long, () => unrestricted),
      proxy.open('sesn_other', () => unrestricted),
    ]);
    expect(first).toEqual(again);
    expect(other.socketPath).not.toBe(first.socketPath);
    expect(Buffer.byteLength(first.socketPath) - Buffer.byteLength(directory)).toBeLessThan(20);
    expect(path.dirname(first.socketPath)).not.toBe(path.dirname(other.socketPath));
  });

  it('say so when their directory is too deep', async () => {
    directory = path.join(directory, 'd'.repeat(100));
    await expect(proxyWith({}).open('sesn_test', () => unrestricted)).rejects.toThrow('longer than the 100 bytes');
  });

  it('listen again after a restart, over what a killed process left', async () => {
    const server = remember(await httpServer((_, response) => response.end('served')));
    const { proxy, socketPath } = await opened({ allow: ['127.0.0.1'] });
    const mounted = statSync(path.dirname(socketPath)).ino;
    await proxy.closeAll();
    writeFileSync(socketPath, 'stale');
    const next = await opened({ allow: ['127.0.0.1'] });
    expect(next.socketPath).toBe(socketPath);
    expect(statSync(path.dirname(socketPath)).ino).toBe(mounted);
    expect(await text(await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`))).toBe('served');
  });

  it('are gone after a close, with their connections, and can be opened again at once', async () => {
    const server = remember(await tcpServer((socket) => socket.pipe(socket)));
    const { proxy, socketPath } = await opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath).send(`CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\n\r\n`);
    await client.until((received) => received.includes('\r\n\r\n'));
    const closed = proxy.close('sesn_test');
    const reopened = proxy.open('sesn_test', () => unrestricted);
    await closed;
    await client.rest();
    expect(await reopened).toEqual({ socketPath });
    expect(await connectAnswer(socketPath, '10.0.0.1:1')).toMatch(/^HTTP\/1\.1 403 /);
    await proxy.close('sesn_test');
    await proxy.close('sesn_test');
    await proxy.close('sesn_never');
    expect(existsSync(path.dirname(socketPath))).toBe(false);
  });
});
