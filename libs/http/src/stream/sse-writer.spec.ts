import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import { ManualClock } from '../testing/manual-clock.ts';
import { SseWriter } from './sse-writer.ts';

const stallLimitMs = 300;
let server: Server | null = null;

afterEach(() => server?.closeAllConnections());

/** A writer on a real response, and the client's end of it, which reads nothing by itself. */
async function connected() {
  const clock = new ManualClock();
  const served = Promise.withResolvers<ServerResponse>();
  server = createServer((_request, response) => served.resolve(response)).listen(0);
  const { port } = server.address() as AddressInfo;
  const received = Promise.withResolvers<IncomingMessage>();
  get({ port, agent: false }, received.resolve).on('error', received.reject);
  const response = await served.promise;
  const chunks: string[] = [];
  const write = response.write.bind(response);
  response.write = ((chunk: string) => {
    chunks.push(chunk);
    return write(chunk);
  }) as typeof response.write;
  const writer = new SseWriter(response, clock, stallLimitMs);
  writer.open({});
  return { clock, writer, chunks, client: await received.promise };
}

const nextTurn = () => new Promise(setImmediate);

describe('the writer of a stream', () => {
  it('joins what one turn of the event loop brings', async () => {
    const { writer, chunks } = await connected();
    writer.writeSoon('a');
    writer.writeSoon('b');
    expect(chunks).toEqual([]);
    await nextTurn();
    expect(chunks).toEqual(['ab']);
  });

  it('keeps the order of what is sent at once and what waits', async () => {
    const { writer, chunks } = await connected();
    writer.writeSoon('a');
    writer.write('b');
    writer.writeSoon('c');
    writer.end();
    await nextTurn();
    expect(chunks).toEqual(['ab', 'c']);
  });

  it('is full while the client does not read', async () => {
    const { writer, client } = await connected();
    writer.write('x'.repeat(50_000_000));
    expect(writer.isFull).toBe(true);
    client.resume();
    await writer.drained();
    expect(writer.isFull).toBe(false);
  });

  it('cuts a client that takes nothing for too long', async () => {
    const { writer } = await connected();
    writer.write('x'.repeat(50_000_000));
    await writer.drained();
    expect(writer.isClosed).toBe(true);
    expect(writer.wasCut).toBe(true);
  });

  it('does not cut a client that takes a large event slowly', async () => {
    const { writer, client } = await connected();
    const since = performance.now();
    writer.write('x'.repeat(50_000_000));
    const reading = setInterval(() => void client.read(), 1);
    await writer.drained();
    clearInterval(reading);
    expect(performance.now() - since).toBeGreaterThan(2 * stallLimitMs);
    expect(writer.wasCut).toBe(false);
  });

  it('lets nobody wait for a client that has left', async () => {
    const { writer, client } = await connected();
    writer.write('x'.repeat(50_000_000));
    client.destroy();
    await writer.drained();
    expect(writer.isClosed).toBe(true);
    writer.write('late');
    writer.end();
  });

  it('gives a client that does not take the end the same time as one that reads nothing', async () => {
    const { writer } = await connected();
    writer.write('x'.repeat(50_000_000));
    writer.end();
    while (!writer.wasCut) await nextTurn();
  });
});
