import type { ModelBlock, ModelStopReason } from '@manyhands/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ModelError,
  type Model,
  type ModelErrorCode,
  type ModelProgress,
  type ModelRequest,
  type ModelResponse,
  type PromptMessage,
} from '../model.ts';

/** What the model is to answer. */
export interface PlannedAnswer {
  blocks: ModelBlock[];
  stopReason: ModelStopReason;
  stopDetails?: { category: string | null; explanation: string | null };
  /** The first request fails like this; a stream that is cut is cut within the answer. The next is answered. */
  failure?: { code: ModelErrorCode; retryAfterMs?: number };
  /** The answer stops coming, before its first byte or within its first text, and the connection stays open. */
  hangs?: 'before' | 'within';
}

export interface ModelUnderTest {
  model: Model;
  /** Messages that the model answers in this way. */
  plan(answer: PlannedAnswer): PromptMessage[];
  /** Every failure that can be planned. */
  failures: readonly ModelErrorCode[];
  close(): Promise<void>;
}

const longText = 'Every good boy deserves favour, and the quick brown fox jumps over the lazy dog — twice. 🦊'.repeat(
  3,
);
const textAnswer: PlannedAnswer = { blocks: [{ type: 'text', text: longText }], stopReason: 'end_turn' };
const retriable: readonly ModelErrorCode[] = [
  'overloaded',
  'rate_limited',
  'server_error',
  'connection',
  'cut_stream',
  'silent',
];

export function modelContract(create: () => Promise<ModelUnderTest>): void {
  describe('model contract', () => {
    let test: ModelUnderTest;
    beforeEach(async () => {
      test = await create();
    });
    afterEach(() => test.close());

    const ask = async (answer: PlannedAnswer, signal = new AbortController().signal): Promise<Asked> =>
      respond(test.model, test.plan(answer), signal);

    answers(ask);
    tellsProgress(ask, () => test);
    fails(ask, () => test);
    aborts(() => test);
  });
}

interface Asked {
  response: ModelResponse;
  progress: ModelProgress[];
}

type Ask = (answer: PlannedAnswer, signal?: AbortSignal) => Promise<Asked>;

function answers(ask: Ask): void {
  it('answers with the blocks as they are, whatever they hold', async () => {
    const blocks: ModelBlock[] = [
      { type: 'thinking', thinking: 'First "this",\nthen that — 二.', signature: 'c2lnbmF0dXJl+/=' },
      { type: 'redacted_thinking', data: 'b3BhcXVl' },
      { type: 'text', text: longText },
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'bash',
        input: { command: 'echo "a\\nb" && ls', nested: { list: [1, null] } },
      },
      { type: 'tool_use', id: 'toolu_2', name: 'read', input: {} },
    ];
    const { response } = await ask({ blocks, stopReason: 'tool_use' });
    expect(response.blocks).toEqual(blocks);
    expect(response.stopReason).toBe('tool_use');
    expect(response.stopDetails).toBeNull();
  });

  it('gives the reason for which an answer stopped', async () => {
    const cut = await ask({ ...textAnswer, stopReason: 'max_tokens' });
    expect(cut.response.stopReason).toBe('max_tokens');
    const stopDetails = { category: 'cyber', explanation: 'No.' };
    const refused = await ask({ ...textAnswer, stopReason: 'refusal', stopDetails });
    expect(refused.response).toMatchObject({ stopReason: 'refusal', stopDetails });
  });

  it('answers many requests at the same time, each with its own answer', async () => {
    const texts = Array.from({ length: 25 }, (_, index) => `answer ${index}`);
    const asked = texts.map((text) => ask({ blocks: [{ type: 'text', text }], stopReason: 'end_turn' }));
    const responses = await Promise.all(asked);
    expect(responses.map(({ response }) => response.blocks[0]?.['text'])).toEqual(texts);
  });
}

function tellsProgress(ask: Ask, test: () => ModelUnderTest): void {
  it('tells each block before its text, and the text in order and whole', async () => {
    const blocks: ModelBlock[] = [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'text', text: longText },
      { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { command: 'ls' } },
      { type: 'text', text: 'after' },
    ];
    const { progress } = await ask({ blocks, stopReason: 'tool_use' });
    const told = progress.filter((event) => event.type !== 'usage');
    const starts = told.filter((event) => event.type === 'block_start');
    expect(starts.map((event) => event.blockType)).toEqual(['thinking', 'text', 'tool_use', 'text']);
    expect(starts.map((event) => event.index)).toEqual([0, 1, 2, 3]);
    expect(textOf(told, 1)).toBe(longText);
    expect(textOf(told, 3)).toBe('after');
    expect(told.map((event) => event.index)).toEqual(told.map((event) => event.index).toSorted((a, b) => a - b));
  });

  it('tells no text of thinking or of calls', async () => {
    const thinking = { type: 'thinking', thinking: 'Secret thoughts.', signature: 'c2ln' };
    const call = { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { command: 'ls' } };
    const { progress } = await ask({ blocks: [thinking, call], stopReason: 'tool_use' });
    expect(progress.some((event) => event.type === 'text')).toBe(false);
  });

  it('tells the usage, the last time as it stands in the answer', async () => {
    const { response, progress } = await ask(textAnswer);
    const usages = progress.filter((event) => event.type === 'usage');
    expect(usages.at(-1)?.usage).toEqual(response.usage);
    expect(response.usage.outputTokens).toBeGreaterThan(0);
  });

  it('has told the usage of the prompt when a stream is cut', async () => {
    const told: ModelProgress[] = [];
    const messages = test().plan({ ...textAnswer, failure: { code: 'cut_stream' } });
    await expect(respondTelling(test().model, messages, told)).rejects.toMatchObject({ code: 'cut_stream' });
    const usage = told.findLast((event) => event.type === 'usage')?.usage;
    expect(usage && usage.inputTokens + usage.cacheCreation5mInputTokens).toBeGreaterThan(0);
  });
}

function fails(ask: Ask, test: () => ModelUnderTest): void {
  it('rejects every failure under its code, retries nothing, and answers the next request', async () => {
    for (const code of test().failures) {
      const messages = test().plan({ ...textAnswer, failure: { code } });
      const failure = await respondTelling(test().model, messages, []).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ModelError);
      expect(failure).toMatchObject({ code, retriable: retriable.includes(code) });
      const again = await respond(test().model, messages, new AbortController().signal);
      expect(again.response.blocks, `after ${code}`).toEqual(textAnswer.blocks);
    }
  });

  it('passes on how long the provider asks to wait', async () => {
    const limited = ask({ ...textAnswer, failure: { code: 'rate_limited', retryAfterMs: 1234 } });
    await expect(limited).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 1234 });
    const overloaded = ask({ ...textAnswer, failure: { code: 'overloaded' } });
    await expect(overloaded).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: null });
  });
}

function aborts(test: () => ModelUnderTest): void {
  it('rejects as aborted when the signal had aborted before', async () => {
    const told: ModelProgress[] = [];
    const answer = respondTelling(test().model, test().plan(textAnswer), told, AbortSignal.abort());
    await expect(answer).rejects.toMatchObject({ code: 'aborted', retriable: false });
    expect(told).toEqual([]);
  });

  it('rejects at once when the signal aborts before the answer', async () => {
    const controller = new AbortController();
    const answer = respondTelling(test().model, test().plan({ ...textAnswer, hangs: 'before' }), [], controller.signal);
    await Promise.resolve();
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: 'aborted' });
  });

  it.each(['within', undefined] as const)(
    'rejects at once when the signal aborts within the answer (hangs: %s)',
    async (hangs) => {
      const controller = new AbortController();
      const told: ModelProgress[] = [];
      const onProgress = (event: ModelProgress) => {
        told.push(event);
        if (event.type === 'text') controller.abort();
      };
      const messages = test().plan(hangs ? { ...textAnswer, hangs } : textAnswer);
      const answer = test().model.respond(request(messages), onProgress, controller.signal);
      await expect(answer).rejects.toMatchObject({ code: 'aborted' });
      expect(told.filter((event) => event.type === 'text')).toHaveLength(1);
    },
  );
}

function textOf(progress: readonly ModelProgress[], index: number): string {
  return progress.map((event) => (event.type === 'text' && event.index === index ? event.text : '')).join('');
}

async function respond(model: Model, messages: PromptMessage[], signal: AbortSignal): Promise<Asked> {
  const progress: ModelProgress[] = [];
  const response = await respondTelling(model, messages, progress, signal);
  return { response, progress };
}

function respondTelling(
  model: Model,
  messages: PromptMessage[],
  told: ModelProgress[],
  signal = new AbortController().signal,
): Promise<ModelResponse> {
  return model.respond(request(messages), (event) => told.push(event), signal);
}

function request(messages: PromptMessage[]): ModelRequest {
  return {
    model: 'scripted-1',
    effort: 'high',
    system: 'You are under test.',
    tools: [
      { name: 'bash', description: 'Runs a command.', input_schema: { type: 'object', properties: {} } },
      { name: 'read', description: 'Reads a file.', input_schema: { type: 'object', properties: {} } },
    ],
    messages,
    maxOutputTokens: 4096,
    thinking: true,
    promptCaching: true,
  };
}
