import { describe, expect, it } from 'vitest';
import { systemResolver } from './resolver.ts';

const never = new AbortController().signal;

describe('systemResolver', () => {
  it('knows what localhost is without asking', async () => {
    const resolve = systemResolver(() => false);
    expect(await resolve('localhost', never)).toEqual(['127.0.0.1', '::1']);
    expect(await resolve('a.localhost', never)).toEqual(['127.0.0.1', '::1']);
  });

  it('looks up a trusted name as the system does, addresses included', async () => {
    expect(await systemResolver(() => true)('127.0.0.9', never)).toEqual(['127.0.0.9']);
  });

  it('ends a question when nobody waits for the answer', async () => {
    const giveUp = new AbortController();
    const answer = systemResolver(() => false)('no-such-name.invalid', giveUp.signal);
    giveUp.abort();
    await expect(answer).rejects.toThrow();
  });
});
