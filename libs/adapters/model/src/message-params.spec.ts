import type { ModelRequest, PromptMessage } from '@manyhands/ports';
import type { ModelBlock } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';
import { betaOf, messageParams } from './message-params.ts';

const mark = { type: 'ephemeral' };

describe('the body of a request', () => {
  it('leaves out what is not used', () => {
    const body = messageParams(request([user('hello')], { promptCaching: false }));
    expect(body).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 1000,
      stream: true,
      messages: [user('hello')],
    });
  });

  it('asks for adaptive thinking and effort where the model has them', () => {
    const wish = { effort: 'xhigh', thinking: true } as const;
    const bodyFor = (model: string) => messageParams(request([user('hello')], { ...wish, model }));
    expect(bodyFor('claude-opus-4-8')).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'xhigh' },
    });
    expect(bodyFor('claude-opus-4-6')).toMatchObject({ output_config: { effort: 'high' } });
    expect(bodyFor('claude-haiku-4-5')).not.toHaveProperty('thinking');
    expect(bodyFor('some-other-model')).not.toHaveProperty('output_config');
  });

  it('has a model drop thoughts that no longer belong to the conversation', () => {
    const binding = request([user('hello')], { model: 'claude-opus-5-5', thinking: true });
    expect(messageParams(binding)).toMatchObject({
      thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
    });
    expect(betaOf(binding)).toBe('thinking-binding-controls-2026-08-01');
    expect(betaOf(request([user('hello')], { model: 'claude-opus-4-8' }))).toBeNull();
  });

  it('leaves out texts of nothing, and messages of nothing else', () => {
    const empty: ModelBlock = { type: 'text', text: ' \n' };
    const call: ModelBlock = { type: 'tool_use', id: 't1', name: 'bash', input: {} };
    const messages = [user('hello'), assistant(empty, call), { role: 'user' as const, content: [empty] }];
    const body = messageParams(request(messages, { promptCaching: false }));
    expect(body.messages).toEqual([user('hello'), assistant(call)]);
  });

  it('puts system messages after the user messages of their place', () => {
    const system = (text: string): PromptMessage => ({ role: 'system', content: [{ type: 'text', text }] });
    const messages = [
      system('a'),
      user('b'),
      system('c'),
      user('d'),
      assistant({ type: 'text', text: 'e' }),
      system('f'),
    ];
    const body = messageParams(request(messages, { promptCaching: false }));
    expect(body.messages.map((message) => message.role)).toEqual(['user', 'user', 'system', 'assistant', 'user']);
    expect(body.messages[2]?.content).toEqual([...system('a').content, ...system('c').content]);
  });
});

describe('cache marks', () => {
  it('stand at the end of tools, system prompt, messages, and messages as they were before', () => {
    const body = messageParams(request(conversation(3), { tools: twoTools, system: 'You are.' }));
    expect(placesOf(body)).toEqual(['tools.1', 'system.0', 'messages.4.0', 'messages.6.0']);
  });

  it('leave the bytes before them as they were in a growing conversation', () => {
    let before: string[] = [];
    for (let answers = 0; answers < 30; answers++) {
      const body = messageParams(request(conversation(answers), { tools: twoTools, system: 'You are.' }));
      const { messages, ...head } = withoutMarks(body) as { messages: unknown[] };
      const now = [JSON.stringify(head), ...messages.map((message) => JSON.stringify(message))];
      expect(now.slice(0, before.length)).toEqual(before);
      before = now;
    }
  });

  it('stand again where the last request had its end', () => {
    for (let answers = 1; answers < 10; answers++) {
      const last = placesOf(messageParams(request(conversation(answers - 1)))).at(-1);
      expect(placesOf(messageParams(request(conversation(answers))))).toContain(last);
    }
  });

  it('never stand on thinking, and never change the prompt they are put on', () => {
    const content: ModelBlock[] = [
      { type: 'text', text: 'hello' },
      { type: 'thinking', thinking: 'hm', signature: 's' },
    ];
    const messages: PromptMessage[] = [{ role: 'user', content }];
    const copy = structuredClone(messages);
    expect(placesOf(messageParams(request(messages)))).toEqual(['messages.0.0']);
    expect(messages).toEqual(copy);
  });
});

const twoTools = ['bash', 'read'].map((name) => ({ name, description: name, input_schema: { type: 'object' } }));

function request(messages: PromptMessage[], overrides: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'claude-sonnet-4-5',
    effort: 'high',
    system: null,
    tools: [],
    messages,
    maxOutputTokens: 1000,
    thinking: false,
    promptCaching: true,
    ...overrides,
  };
}

/** A question, and so many answers with a call each, every one with its result. */
function conversation(answers: number): PromptMessage[] {
  const messages = [user('count the files')];
  for (let index = 0; index < answers; index++) {
    const id = `toolu_${index}`;
    const thinking = { type: 'thinking', thinking: `thought ${index}`, signature: 's' };
    messages.push(assistant(thinking, { type: 'tool_use', id, name: 'bash', input: { command: 'ls' } }));
    messages.push({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: 'a' }] }],
    });
  }
  return messages;
}

function user(text: string): PromptMessage {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function assistant(...content: ModelBlock[]): PromptMessage {
  return { role: 'assistant', content };
}

/** Where marks stand: `messages.4.0` is the first block of the fifth message. */
function placesOf(body: unknown): string[] {
  const places: string[] = [];
  const walk = (value: unknown, path: string[]): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('cache_control' in value) {
      expect(value.cache_control).toEqual(mark);
      places.push(path.filter((key) => key !== 'content').join('.'));
    }
    for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key]);
  };
  walk(body, []);
  return places;
}

function withoutMarks(body: unknown): unknown {
  const drop = (key: string, value: unknown) => (key === 'cache_control' ? undefined : value);
  return JSON.parse(JSON.stringify(body, drop)) as unknown;
}
