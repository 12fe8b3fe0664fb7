import { describe, expect, it } from 'vitest';
import { dueTurn } from './conversation.ts';
import { textOf, type Block, type Message, type MessagesRequest } from './messages-api.ts';
import { parseScript, script, ScriptError, type ScriptTurn } from './script.ts';
import { compactionMarker } from './unscripted.ts';

describe('which turn of a script is due', () => {
  const two = script([[{ text: 'one' }], [{ text: 'two' }]], 'a');

  it('is the first, then one more for each answer, and the same for the same request', () => {
    expect(saidTo(user(two))).toBe('one');
    expect(saidTo(user(two), assistant('one'), user('go on'))).toBe('two');
    expect(saidTo(user(two), assistant('one'), user('go on'))).toBe('two');
    expect(dueTurn(request([user(two), assistant('one'), user('go on')]))).toMatchObject({
      conversation: 'a',
      index: 1,
    });
  });

  it('says so when the script has ended', () => {
    expect(saidTo(user(two), assistant('one'), user('x'), assistant('two'), user('x'))).toBe('The script has ended.');
  });

  it('belongs to the later of two scripts', () => {
    expect(saidTo(user(two), assistant('one'), user(script([[{ text: 'new' }]])))).toBe('new');
  });

  it('plays scripts that came together one after the other', () => {
    const both = [user(script([[{ text: 'one' }]])), user(script([[{ text: 'two' }]]))];
    expect(saidTo(...both)).toBe('one');
    expect(saidTo(...both, assistant('one'), user('x'))).toBe('two');
  });

  it('goes on after the context was compacted', () => {
    const asked = dueTurn(request([user(two), assistant('one'), user(`Write a summary in ${compactionMarker}.`)]));
    const summary = /<summary>([^]*)<\/summary>/.exec(said(asked.turn))?.[1] ?? '';
    expect(saidTo(user(`A summary of everything so far:\n\n${summary}`))).toBe('two');
  });

  it('refuses what is no script', () => {
    expect(() => parseScript('#script {')).toThrow(ScriptError);
    expect(() => parseScript('#script {"turns":[7]}')).toThrow('turn 0');
    expect(parseScript('no script here')).toBeNull();
  });
});

describe('without a script', () => {
  const bash = { tools: [{ name: 'bash' }] };

  it('repeats what was said', () => {
    expect(saidTo(user('hello'))).toBe('You said: hello');
    expect(saidTo(user('hello'), assistant('You said: hello'), user('again'))).toBe('You said: again');
  });

  it.each([
    ['Please count the files here.', 'find . -type f | wc -l'],
    ['How many files are there?', 'find . -type f | wc -l'],
    ['What files do you see?', 'ls -la'],
    ['Run `echo $HOME && ls` for me', 'echo $HOME && ls'],
    ['run: uname -a', 'uname -a'],
    ['What time is it?', 'date -u'],
  ])('finds out when asked: %s', (asked, command) => {
    const { turn } = dueTurn({ ...request([user(asked)]), ...bash });
    expect(turn.blocks.at(-1)).toEqual({ tool: 'bash', input: { command } });
    expect(saidTo(user(asked))).toBe(`You said: ${asked}`);
  });

  it('reports what the command printed', () => {
    const call: Message = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'bash', input: {} }] };
    const result = (block: Partial<Block>): Message => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', ...block }],
    });
    expect(saidTo(user('run: ls'), call, result({ content: [{ type: 'text', text: '3\n' }] }))).toBe(
      'The command printed:\n3',
    );
    expect(saidTo(user('run: ls'), call, result({ content: 'no', is_error: true }))).toBe('The command failed:\nno');
  });
});

function saidTo(...messages: Message[]): string {
  return said(dueTurn(request(messages)).turn);
}

function said(turn: ScriptTurn): string {
  return turn.blocks.map((block) => ('text' in block ? block.text : '')).join('');
}

function request(messages: Message[]): MessagesRequest {
  return { model: 'scripted-1', max_tokens: 100, messages };
}

function user(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function assistant(text: string): Message {
  const message: Message = { role: 'assistant', content: [{ type: 'text', text }] };
  expect(textOf(message)).toBe(text);
  return message;
}
