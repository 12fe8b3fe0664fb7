import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, throughProxy } from './testing/proxies.ts';
import { httpServer, RawClient, tcpServer } from './testing/servers.ts';

let bench: Bench;
beforeEach(() => void (bench = new Bench()));
afterEach(() => bench.close());

describe('plain HTTP', () => {
  it('forwards a request with its fields and streams the answer', async () => {
    const server = await bench.serving(
      httpServer((request, response) => {
        response.writeHead(207, 'Odd', [
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
          ['X-Path', request.url ?? ''],
        ]);
        response.write('first ');
        setTimeout(() => response.end(JSON.stringify(request.rawHeaders)), 20);
      }),
    );
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
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
    const server = await bench.serving(
      httpServer((request, response) => void text(request).then((body) => response.end(`${request.method} ${body}`))),
    );
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`, {
      method,
      headers,
      body: 'hello',
    });
    expect(await text(answer)).toBe(`${method} hello`);
  });

  it('keeps a chunked GET one request for the host', async () => {
    const seen: string[] = [];
    const server = await bench.serving(
      httpServer((request, response) => {
        seen.push(`${request.method} ${request.url}`);
        request.resume().on('end', () => response.end('ok'));
      }),
    );
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    const inner = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    const url = `http://127.0.0.1:${server.port}/outer`;
    await throughProxy(socketPath, url, { headers: { 'Transfer-Encoding': 'chunked' }, body: inner });
    expect(seen).toEqual(['GET /outer']);
  });

  it('forwards requests without a body, and answers without one', async () => {
    const server = await bench.serving(
      httpServer((request, response) => {
        const { 'content-length': length = 'none', 'transfer-encoding': coding = 'none' } = request.headers;
        response.writeHead(request.url === '/empty' ? 204 : 200, { 'x-framing': `${length} ${coding}` });
        response.end();
      }),
    );
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
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
    const server = await bench.serving(
      httpServer((_, response) => void response.setHeader('content-length', '4096').end()),
    );
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`, { method: 'HEAD' });
    expect(answer.headers['content-length']).toBe('4096');
  });

  it('serves several requests of one connection, each judged by itself', async () => {
    const server = await bench.serving(httpServer((request, response) => response.end(`page ${request.url}`)));
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    const client = new RawClient(socketPath);
    client.send(`GET http://127.0.0.1:${server.port}/1 HTTP/1.1\r\nHost: x\r\n\r\n`);
    await client.until((received) => received.includes('page /1'));
    client.send('GET http://10.0.0.1/2 HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await client.rest()).toMatch(/address_not_allowed/);
  });

  it('hands on the answer of a host that does not read the whole body', async () => {
    const server = await bench.serving(
      tcpServer((socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig'));
      }),
    );
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
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
    const server = await bench.serving(
      tcpServer((socket) => socket.once('data', () => socket.end(answers.shift() ?? ''))),
    );
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    while (answers.length > 0) {
      const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`);
      expect([answer.statusCode, await text(answer)]).toEqual([502, expect.stringContaining('upstream_failed')]);
    }
  });

  it('cuts the answer short when the host does', async () => {
    const server = await bench.serving(
      tcpServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'))),
    );
    const { socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    const answer = await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`);
    await expect(text(answer)).rejects.toThrow('aborted');
  });

  it('leaves the host when the client leaves', async () => {
    const left = Promise.withResolvers<void>();
    const server = await bench.serving(
      httpServer((request, response) => {
        request.socket.once('close', left.resolve);
        response.write('begin');
      }),
    );
    const { proxy, socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
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
    const { socketPath } = await bench.opened({ names: { 'example.com': ['10.0.0.1'] } });
    const received = await new RawClient(socketPath).send(request).rest();
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(received).toContain(reason);
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('answers 431 to a header that is too long', async () => {
    const { socketPath } = await bench.opened({});
    const long = `GET http://example.com/ HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`;
    expect(await new RawClient(socketPath).send(long).rest()).toMatch(/^HTTP\/1\.1 431 /);
  });
});
