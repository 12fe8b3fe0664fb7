import { describe, expect, it } from 'vitest';
import type { Block, Message, MessagesRequest } from './messages-api.ts';
import { promptFault } from './prompt-rules.ts';

const text = (words: string): Block => ({ type: 'text', text: words });
const call = (id: string): Block => ({ type: 'tool_use', id, name: 'bash', input: {} });
const result = (id: string): Block => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
const mark = { cache_control: { type: 'ephemeral' } };

const user = (...content: Block[]): Message => ({ role: 'user', content });
const assistant = (...content: Block[]): Message => ({ role: 'assistant', content });
const system = (words: string): Message => ({ role: 'system', content: [text(words)] });

describe('what the real API would refuse', () => {
  it.each<[string, Message[]]>([
    ['a call with its result', [user(text('a')), assistant(call('1')), user(result('1'), text('b'))]],
    [
      'results in two messages',
      [user(text('a')), assistant(call('1'), call('2')), user(result('2')), user(result('1'))],
    ],
    ['a system message after a result', [user(text('a')), assistant(call('1')), user(result('1')), system('s')]],
    ['text as a string', [{ role: 'user', content: 'hello' }]],
  ])('takes %s', (_, messages) => {
    expect(promptFault(request(messages))).toBeNull();
  });

  it.each<[string, Message[], RegExp]>([
    ['no messages', [], /at least one/],
    ['an answer first', [assistant(text('a'))], /first message/],
    ['an answer last', [user(text('a')), assistant(text('b'))], /prefill/],
    ['a text of nothing', [user(text(' '))], /non-whitespace/],
    ['a message of nothing', [user()], /non-empty/],
    ['a dangling call', [user(text('a')), assistant(call('1')), user(text('b'))], /without `tool_result`/],
    ['a result of nothing', [user(result('1'))], /unexpected/],
    [
      'two results of one call',
      [user(text('a')), assistant(call('1')), user(result('1'), result('1'))],
      /single result/,
    ],
    ['a text before a result', [user(text('a')), assistant(call('1')), user(text('b'), result('1'))], /come first/],
    ['one id for two calls', [user(text('a')), assistant(call('1'), call('1')), user(result('1'))], /unique/],
    ['a system message first', [system('s'), user(text('a'))], /role user/],
    ['a system message before a user', [user(text('a')), system('s'), user(text('b'))], /precede/],
    ['five marks', [user(...['1', '2', '3', '4', '5'].map((word) => ({ ...text(word), ...mark })))], /maximum of 4/],
    ['a mark on thinking', [user({ type: 'thinking', thinking: 'x', ...mark })], /thinking/],
  ])('refuses %s', (_, messages, fault) => {
    expect(promptFault(request(messages))).toMatch(fault);
  });
});

function request(messages: Message[]): MessagesRequest {
  return { model: 'scripted-1', max_tokens: 100, messages };
}
