/** Clients that do whatever is allowed at any moment, beside each other: whatever they meet, the history stays in order. */
import { APIError } from '@anthropic-ai/sdk';
import { script, type ScriptBlock, type ScriptFault, type ScriptTurnInput } from '@manyhands/adapter-scripted-model';
import { describe, expect, it } from 'vitest';
import { until } from '../support/conditions.ts';
import { message, type Conversation, type EventParams } from '../support/conversation.ts';
import { streamFaults } from '../support/history-checker.ts';
import { builtinTools, usePlatform } from '../support/platform.ts';
import { newRandom, type Random } from '../support/random.ts';
import { openRawStream, type StreamMessage } from '../support/raw-stream.ts';
import type { SessionEvent } from '../support/stream-recorder.ts';

const isLong = process.env['MANYHANDS_LONG'] === '1';
const sessionCount = isLong ? 30 : 6;
const actsPerClient = isLong ? 60 : 20;

describe('random clients', () => {
  const platform = usePlatform({ env: { MANYHANDS_MODEL_SILENCE_MS: '500' } });

  async function newSession(): Promise<Conversation> {
    const ask = { name: 'write' as const, permission_policy: { type: 'always_ask' as const } };
    const lookup = {
      type: 'custom' as const,
      name: 'lookup',
      description: 'x',
      input_schema: { type: 'object' as const },
    };
    const agent = await platform.agent({ tools: [{ ...builtinTools[0], configs: [ask] }, lookup] as never });
    return platform.session({ agent: agent.id });
  }

  function randomTurn(random: Random): ScriptTurnInput {
    const blocks: [ScriptBlock, ...ScriptBlock[]] = [
      { text: `Number ${random.integer(0, 999)}. `.repeat(random.integer(1, 5)) },
      { thinking: 'Hm.' },
      { tool: 'bash', input: { command: `sleep 0.0${random.integer(0, 9)}; echo ${random.integer(0, 999)}` } },
      { tool: 'read', input: { file_path: 'x.txt' } },
      { tool: 'write', input: { file_path: 'x.txt', content: 'x' } },
      { tool: 'lookup', input: { n: random.integer(0, 9) } },
    ];
    const faults: [ScriptFault, ...ScriptFault[]] = [
      { kind: 'status', status: 529, retryAfterMs: 1 },
      { kind: 'cut', afterEvents: random.integer(0, 5) },
      { kind: 'silence', afterEvents: random.integer(0, 5) },
    ];
    return {
      blocks: Array.from({ length: random.integer(1, 3) }, () => random.pick(blocks)),
      ...(random.chance(0.2) && { tokenDelayMs: random.integer(0, 29) }),
      ...(random.chance(0.15) && { faults: [random.pick(faults)] }),
    };
  }

  /** What the session waits for, and now and then what it does not. */
  async function answers(conversation: Conversation, random: Random): Promise<EventParams[]> {
    const history = await conversation.history();
    const idle = history.findLast((event) => event.type === 'session.status_idle');
    const waiting = idle?.stop_reason.type === 'requires_action' ? idle.stop_reason.event_ids : [];
    const calls = history.filter((event) => waiting.includes(event.id) || random.chance(0.01));
    return calls.flatMap((call): EventParams[] => {
      if (random.chance(0.2)) return [];
      if (call.type === 'agent.custom_tool_use')
        return [{ type: 'user.custom_tool_result', custom_tool_use_id: call.id }];
      const result = random.chance(0.3) ? 'deny' : 'allow';
      return [{ type: 'user.tool_confirmation', tool_use_id: call.id, result }];
    });
  }

  async function act(conversation: Conversation, random: Random): Promise<void> {
    const turns = [...Array.from({ length: random.integer(0, 3) }, () => randomTurn(random)), [{ text: 'Done.' }]];
    const choice = random.integer(0, 9);
    if (choice < 3) await conversation.send(message(script(turns)));
    else if (choice < 4) await conversation.send(message('Short.'), message(script(turns)));
    else if (choice < 5)
      await conversation.send({ type: 'user.interrupt' }, ...(random.chance(0.5) ? [message('And now?')] : []));
    else if (choice < 6)
      await conversation.client.beta.sessions.update(conversation.id, { title: `T${random.integer(0, 4)}` });
    else {
      const events = await answers(conversation, random);
      if (events.length > 0) await conversation.send(...events);
    }
  }

  async function play(conversation: Conversation, random: Random): Promise<void> {
    for (let n = 0; n < actsPerClient; n++) {
      await act(conversation, random).catch((error: unknown) => {
        // What another client did meanwhile may have made it wrong.
        if (!(error instanceof APIError) || (error.status !== 400 && error.status !== 429)) throw error;
      });
      await new Promise((resolve) => setTimeout(resolve, random.integer(0, 39)));
    }
  }

  /** A reader whose connection breaks again and again, and who resumes each time. */
  async function readBrokenly(
    conversation: Conversation,
    random: Random,
    isOver: () => boolean,
  ): Promise<SessionEvent[]> {
    const read: StreamMessage[] = [];
    let lastEventId = '0.0';
    while (!isOver()) {
      const stream = await openRawStream(platform.server, conversation.id, { lastEventId });
      const part = await stream.readUntil(() => random.chance(0.1) || isOver());
      stream.close();
      read.push(...part.filter(({ event }) => event !== 'ping'));
      lastEventId = read.at(-1)?.id ?? lastEventId;
    }
    return read.map(({ data }) => data as SessionEvent);
  }

  async function calm(conversation: Conversation): Promise<void> {
    await until('the session to be calm', async () => {
      await conversation.send({ type: 'user.interrupt' });
      const { status } = await conversation.session();
      const waits = (await conversation.history()).some((event) => event.processed_at == null);
      return status === 'idle' && !waits;
    });
  }

  it('leave a history in order, and streams that say the same, however often they break', async () => {
    const random = newRandom('random clients');
    const games = Array.from({ length: sessionCount }, () => playGame(random.fork()));
    await Promise.all(games);
  });

  async function playGame(random: Random): Promise<void> {
    const conversation = await newSession();
    let isOver = false;
    const reader = readBrokenly(conversation, random.fork(), () => isOver);
    await Promise.all([1, 2, 3].map(() => play(conversation, random.fork())));
    await calm(conversation);
    isOver = true;
    // One more event wakes a reader that waits.
    await conversation.send({ type: 'user.interrupt' });
    const read = await reader;
    const placed = read.filter((event) => event.processed_at != null).length;
    expect(streamFaults((await conversation.history()).slice(0, placed), read)).toEqual([]);
  }
});
