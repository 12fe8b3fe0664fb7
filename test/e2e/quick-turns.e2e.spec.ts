/** Turns as fast as a client can make them, against a model that answers at once: the races of send, stream and idle. */
import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { message, textOf, type Conversation } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';
import type { StreamEvent } from '../support/stream-recorder.ts';

const turnsPerSession = 10;
const rounds = process.env['MANYHANDS_LONG'] === '1' ? 200 : 12;

describe('ten quick turns on one session', () => {
  const platform = usePlatform();

  /** Reads as most programs do: up to the first idle. */
  async function readTurn(stream: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'session.status_idle') return events;
    }
    throw new Error(`the stream ended after ${events.map(({ type }) => type).join(', ')}`);
  }

  function expectOwnTurn(events: readonly StreamEvent[], text: string): void {
    const answers = events.filter((event) => event.type === 'agent.message');
    expect(answers).toHaveLength(1);
    expect(textOf(answers[0] as { content: unknown[] })).toContain(text);
    const idles = events.filter((event) => event.type === 'session.status_idle');
    expect(idles.map((event) => event.stop_reason.type)).toEqual(['end_turn']);
    expect(events.findIndex((event) => event === answers[0])).toBeLessThan(events.length - 1);
  }

  type Turn = (client: Anthropic, sessionId: string, text: string) => Promise<StreamEvent[]>;

  const streamFirst: Turn = async (client, id, text) => {
    const stream = await client.beta.sessions.events.stream(id);
    await client.beta.sessions.events.send(id, { events: [message(text)] });
    return readTurn(stream);
  };

  const sendFirst: Turn = async (client, id, text) => {
    await client.beta.sessions.events.send(id, { events: [message(text)] });
    return readTurn(await client.beta.sessions.events.stream(id));
  };

  const bothAtOnce: Turn = async (client, id, text) => {
    const sent = client.beta.sessions.events.send(id, { events: [message(text)] });
    const stream = client.beta.sessions.events.stream(id);
    await sent;
    return readTurn(await stream);
  };

  async function playTurns(turn: (n: number) => Turn): Promise<void> {
    const conversation: Conversation = await platform.session({ record: false });
    for (let n = 0; n < turnsPerSession; n++) {
      const text = `Turn number ${n} of this session.`;
      expectOwnTurn(await turn(n)(platform.client, conversation.id, text), text);
    }
    expect(await conversation.ofType('session.status_idle')).toHaveLength(turnsPerSession);
  }

  it.each<[string, (n: number) => Turn]>([
    ['stream first', () => streamFirst],
    ['send first', () => sendFirst],
    ['both at once', () => bothAtOnce],
    ['in turns', (n) => [streamFirst, sendFirst, bothAtOnce][n % 3] as Turn],
  ])('each see their own reply and their own idle: %s', async (_, turn) => {
    for (let round = 0; round < rounds; round++) await playTurns(turn);
  });

  it.each<[string, Turn]>([
    ['stream first', streamFirst],
    ['send first', sendFirst],
  ])('also on many sessions beside each other: %s', async (_, turn) => {
    for (let round = 0; round < Math.ceil(rounds / 6); round++) {
      await Promise.all(Array.from({ length: 8 }, () => playTurns(() => turn)));
    }
  });

  it('are over for the client that archives and deletes right after the idle', async () => {
    const { sessions } = platform.client.beta;
    for (let round = 0; round < rounds; round++) {
      const { id } = await platform.session({ record: false });
      await streamFirst(platform.client, id, 'Quickly.');
      if (round % 2 === 0) expect((await sessions.archive(id)).status).toBe('terminated');
      else expect((await sessions.retrieve(id)).status).toBe('idle');
      expect((await sessions.delete(id)).type).toBe('session_deleted');
    }
  });
});
