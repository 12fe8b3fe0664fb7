import { Agent, type RequestListener } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { send, type HandResponse } from './request.ts';
import { FalseHand } from './testing/false-hand.ts';
import { maxAnswerBytes } from './wire.ts';

const hands: FalseHand[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const hand of hands.splice(0)) hand.close();
});

async function ask(answer: RequestListener, timeoutMs = 5_000): Promise<HandResponse> {
  const hand = await FalseHand.listen(answer);
  hands.push(hand);
  return send(hand.address, new Agent(), { method: 'GET', path: '/executions', grant: 'grant', timeoutMs });
}

describe('a request to a hand', () => {
  it('gives status and body', async () => {
    expect(await ask((_, response) => response.writeHead(404).end('{"a":[1]}'))).toEqual({
      status: 404,
      body: { a: [1] },
    });
  });

  it('takes no answer without end', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const endless = ask((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', more);
      more();
    });
    await expect(endless).rejects.toMatchObject({ code: 'lost' });
    expect(sent).toBeLessThan(2 * maxAnswerBytes);
  });

  it('does not wait for an answer that comes byte by byte', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let trickle: NodeJS.Timeout | undefined;
    const slow = ask((_, response) => {
      trickle = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(trickle));
    });
    const seen = expect(slow).rejects.toMatchObject({ code: 'unreachable', message: /did not come to its end/ });
    await vi.waitUntil(() => trickle, { timeout: 5_000 });
    await vi.advanceTimersByTimeAsync(20_000);
    await seen;
  });

  it.each(['', 'no JSON', '{"state":'])('takes %j for no answer of a hand', async (body) => {
    await expect(ask((_, response) => response.end(body))).rejects.toMatchObject({ code: 'lost' });
  });

  it('takes what speaks no HTTP for no hand', async () => {
    const other = ask((request) => request.socket.end('SSH-2.0-x\r\n\r\n'));
    await expect(other).rejects.toMatchObject({ code: 'lost' });
  });

  it('takes a connection that breaks for one that may be tried again', async () => {
    const broken = ask((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{', () => response.destroy());
    });
    await expect(broken).rejects.toMatchObject({ code: 'unreachable', cause: { code: 'ECONNRESET' } });
  });
});
