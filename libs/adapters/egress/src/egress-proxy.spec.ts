import { existsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, connectAnswer, throughProxy, unrestricted } from './testing/proxies.ts';
import { httpServer, RawClient, tcpServer } from './testing/servers.ts';

let bench: Bench;
beforeEach(() => void (bench = new Bench()));
afterEach(() => bench.close());

describe('the sockets', () => {
  it('are one short path per session, the same each time', async () => {
    const proxy = bench.proxy({});
    const long = `sesn_${'x'.repeat(500)}`;
    const [first, again, other] = await Promise.all([
      proxy.open(long, () => unrestricted),
      proxy.open(long, () => unrestricted),
      proxy.open('sesn_other', () => unrestricted),
    ]);
    expect(first).toEqual(again);
    expect(other.socketPath).not.toBe(first.socketPath);
    expect(Buffer.byteLength(first.socketPath) - Buffer.byteLength(bench.directory)).toBeLessThan(20);
    expect(path.dirname(first.socketPath)).not.toBe(path.dirname(other.socketPath));
  });

  it('say so when their directory is too deep', async () => {
    const directory = path.join(bench.directory, 'd'.repeat(100));
    await expect(bench.proxy({ directory }).open('sesn_test', () => unrestricted)).rejects.toThrow(
      'longer than the 100',
    );
  });

  it('listen again after a restart, over what a killed process left', async () => {
    const server = await bench.serving(httpServer((_, response) => response.end('served')));
    const { proxy, socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
    const mounted = statSync(path.dirname(socketPath)).ino;
    await proxy.closeAll();
    writeFileSync(socketPath, 'stale');
    const next = await bench.opened({ allow: ['127.0.0.1'] });
    expect(next.socketPath).toBe(socketPath);
    expect(statSync(path.dirname(socketPath)).ino).toBe(mounted);
    expect(await text(await throughProxy(socketPath, `http://127.0.0.1:${server.port}/`))).toBe('served');
  });

  it('are gone after a close, with their connections, and can be opened again at once', async () => {
    const server = await bench.serving(tcpServer((socket) => socket.pipe(socket)));
    const { proxy, socketPath } = await bench.opened({ allow: ['127.0.0.1'] });
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
