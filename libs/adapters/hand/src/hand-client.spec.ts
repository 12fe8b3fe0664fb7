import { generateKeyPairSync } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Epoch, EventId } from '@manyhands/protocol';
import { HandClients } from './hand-clients.ts';
import { FalseHand } from './testing/false-hand.ts';
import { newSessionId } from './testing/tried-hand.ts';
import type { Hand } from '@manyhands/ports';

const clients = new HandClients(generateKeyPairSync('ed25519').privateKey);
const epoch = 1 as Epoch;
const executionId = 'sevt_01one' as EventId;
const content = [{ type: 'text', text: 'done' }];
const never = new AbortController().signal;

const hands: FalseHand[] = [];
afterEach(() => {
  for (const hand of hands.splice(0)) hand.close();
});

function connect(made: FalseHand): Hand {
  hands.push(made);
  return clients.connect({ sessionId: newSessionId(), hand: 'main', generation: 1 }, made.address);
}
const answering = async (status: number, body: unknown): Promise<Hand> =>
  connect(await FalseHand.answering(status, typeof body === 'string' ? body : JSON.stringify(body)));
const execute = (hand: Hand, signal = never): Promise<unknown> =>
  hand.execute(epoch, { executionId, name: 'bash', input: { command: 'true' } }, signal);

const deep = '['.repeat(200_000) + ']'.repeat(200_000);
const answersOfNoDaemon: [number, unknown][] = [
  [200, '{}'],
  [200, 'null'],
  [200, '[]'],
  [200, '"finished"'],
  [200, deep],
  [204, 'null'],
  [301, '{"error":"fenced"}'],
  [404, '{}'],
  [409, '{"error":"refused","message":"x"}'],
  [409, '{"error":"fenced"}'],
  [409, '{"error":"fenced","message":{}}'],
  [500, 'null'],
  [503, '{"error":"fenced","message":"x"}'],
];

describe('a client of what is no hand', () => {
  it.each(answersOfNoDaemon)('takes %i %s for a hand that is lost', async (status, body) => {
    const hand = await answering(status, body);
    await expect(hand.fence(epoch)).rejects.toMatchObject({ name: 'HandError', code: 'lost' });
    await expect(execute(hand)).rejects.toMatchObject({ name: 'HandError', code: 'lost' });
    await expect(hand.look(epoch, executionId)).rejects.toMatchObject({ name: 'HandError', code: 'lost' });
  });

  it.each([
    { state: 'finished' },
    { state: 'finished', isError: false },
    { state: 'finished', isError: 'no', content },
    { state: 'finished', isError: false, content: { length: 1 } },
    { state: 'unknown' },
    { state: 'FINISHED', isError: false, content },
  ])('takes %j for no execution', async (body) => {
    const hand = await answering(200, body);
    await expect(execute(hand)).rejects.toMatchObject({ code: 'lost' });
    await expect(hand.look(epoch, executionId)).rejects.toMatchObject({ code: 'lost' });
  });

  it.each([
    { executions: null },
    { executions: [{ state: 'running' }] },
    { executions: [{ state: 'running', id: '../healthz' }] },
    { executions: [{ state: 'running', id: 7 }] },
    { executions: Array.from({ length: 1_001 }, (_, index) => ({ state: 'running', id: `sevt_${index}` })) },
  ])('takes %j for no list', async (body) => {
    await expect((await answering(200, body)).fence(epoch)).rejects.toMatchObject({ code: 'lost' });
  });

  it('passes over what is no execution in a list', async () => {
    const executions = [null, 7, deep.slice(0, 9), { state: 'finished' }, { state: 'running', id: executionId }];
    expect(await (await answering(200, { executions })).fence(epoch)).toEqual([executionId]);
  });

  it('lets no result through that a turn cannot bear', async () => {
    const long = [{ type: 'text', text: 'x'.repeat(5_000_000), extra: 1 }];
    const result = await execute(await answering(200, { state: 'finished', isError: false, content: long, extra: 1 }));
    expect(Object.keys(result as object)).toEqual(['state', 'isError', 'content']);
    expect(JSON.stringify(result).length).toBeLessThan(25_000);
    const nested = `{"state":"finished","isError":false,"content":${deep}}`;
    expect(await execute(await answering(200, nested))).toMatchObject({ state: 'finished', isError: true });
  });

  it('believes a refusal no longer than it is', async () => {
    const hand = await answering(401, { error: 'unauthorized', message: 'x'.repeat(1_000_000) });
    await expect(hand.fence(epoch)).rejects.toMatchObject({ code: 'refused', message: 'x'.repeat(500) });
  });

  it('does not ask without pause whether a call still runs, and stops when it is told to', async () => {
    let asked = 0;
    const made = await FalseHand.listen((request, response) => {
      asked++;
      request.resume();
      response.end('{"state":"running"}');
    });
    const reason = new Error('no time');
    const stop = new AbortController();
    setTimeout(() => stop.abort(reason), 450);
    await expect(execute(connect(made), stop.signal)).rejects.toBe(reason);
    expect(asked).toBeLessThan(10);
  });

  it('knows of a call that was never sent, and of none that may have arrived', async () => {
    const cut = await FalseHand.listen((request) => {
      request.resume();
      request.on('end', () => {
        cut.close();
        request.destroy();
      });
    });
    const hand = connect(cut);
    await expect(execute(hand)).rejects.toMatchObject({ code: 'lost', neverSent: false });
    await expect(execute(hand)).rejects.toMatchObject({ code: 'lost', neverSent: true });
  });
});
