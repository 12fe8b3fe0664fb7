import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forwardEgress, proxyEnvironment } from './egress-forward.ts';

let folder: string;
let port: number;
let proxy: Server;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'egress-'));
  proxy = await proxyThat((socket) => {
    // Answers when the other side has said everything.
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => socket.end(`heard ${Buffer.concat(chunks).length}`));
  });
  port = await forwardEgress(join(folder, 'socket'), 0);
});
afterEach(() => {
  proxy.close();
  rmSync(folder, { recursive: true });
});

async function proxyThat(answers: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, answers);
  server.listen(join(folder, 'socket'));
  await once(server, 'listening');
  return server;
}

async function say(bytes: Buffer): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(bytes);
  return text(socket);
}

describe('the way out', () => {
  it('carries bytes both ways, each to its own end', async () => {
    expect(await say(Buffer.alloc(3_000_000))).toBe('heard 3000000');
    expect(await Promise.all([say(Buffer.alloc(1)), say(Buffer.alloc(2))])).toEqual(['heard 1', 'heard 2']);
  });

  it('closes connections while there is no proxy, and finds one that comes back', async () => {
    proxy.close();
    await once(proxy, 'close');
    expect(await say(Buffer.from('x')).catch(() => '')).toBe('');
    proxy = await proxyThat((socket) => socket.end('back'));
    expect(await say(Buffer.from('x'))).toBe('back');
  });

  it('is named in both spellings', () => {
    expect(proxyEnvironment(3128)).toMatchObject({
      HTTPS_PROXY: 'http://127.0.0.1:3128',
      https_proxy: 'http://127.0.0.1:3128',
      no_proxy: 'localhost,127.0.0.1,::1',
    });
  });
});
