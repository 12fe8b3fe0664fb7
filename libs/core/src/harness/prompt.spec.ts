/** What the model is shown of a log. */
import type { LogRecord, ModelBlock, Seq } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';
import { agentWith, customResult, deny, interrupt, message, systemMessage } from '../testing/fixtures.ts';
import { Story, textBlock, use } from '../testing/story.ts';
import { logContextPolicy } from './prompt.ts';
import type { ContextView } from './prompt.ts';

/** `user: hi` and the like, one line a message. */
function shown(story: Story, view: Partial<ContextView> = {}): string[] {
  const { trimmedThrough } = story.state.context;
  const wanted = new Set<string>(logContextPolicy.kinds);
  const records: LogRecord[] = story.records.filter((record) => wanted.has(record.kind));
  const messages = logContextPolicy.messages(records, { trimmedThrough, midConversationSystem: false, ...view });
  return messages.map(({ role, content }) => `${role}: ${content.map(blockInWords).join(' | ')}`);
}

function blockInWords(block: ModelBlock): string {
  if (block.type === 'text') return String(block.text);
  if (block.type === 'tool_use') return `call ${String(block.id)}`;
  if (block.type !== 'tool_result') return block.type;
  const text = (block.content as ModelBlock[]).map(blockInWords).join(' ');
  return `${block.is_error ? 'error' : 'result'} ${String(block.tool_use_id)} ${text}`.trim();
}

function started(): Story {
  return new Story().sends(message('hi')).claims();
}

describe('a prompt', () => {
  it('shows messages when they were taken, not when they were sent', () => {
    const story = started().sends(message('second')).sends(message('third'));
    expect(shown(story)).toEqual(['user: hi']);
    story.says('hello');
    expect(shown(story)).toEqual(['user: hi', 'assistant: hello', 'user: second | third']);
  });

  it('does not show messages that were dropped', () => {
    const story = started().sends(message('second')).fails({ retriable: false });
    story.sends(message('third')).claims();
    expect(shown(story)).toEqual(['user: hi | third']);
  });

  it('shows responses byte for byte, but no empty text', () => {
    const blocks = [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      textBlock(''),
      textBlock('a'),
      use('c1', 'bash', { command: 'ls' }),
    ];
    const story = started().responds(blocks);
    const [, answer] = logContextPolicy.messages(story.records, {
      trimmedThrough: 0 as Seq,
      midConversationSystem: false,
    });
    expect(answer).toEqual({ role: 'assistant', content: [blocks[0], blocks[2], blocks[3]] });
  });

  it('orders results by their calls, whoever finished first', () => {
    const story = started().responds([use('c1', 'read'), use('c2', 'ask_human'), use('c3', 'read')]);
    story
      .answers('c3', 'three')
      .sends(customResult(story.call('c2'), 'two'))
      .answers('c1', 'one');
    expect(shown(story)).toEqual([
      'user: hi',
      'assistant: call c1 | call c2 | call c3',
      'user: result c1 one | result c2 two | result c3 three',
    ]);
  });

  it('answers a call that the log never answered', () => {
    const story = started().responds([use('c1', 'bash')]);
    expect(shown(story).at(-1)).toBe('user: error c1 The call has no result.');
  });

  it('keeps calls of two responses apart that the model named alike', () => {
    const story = started()
      .responds([use('c1', 'bash')])
      .answers('c1', 'one');
    story.responds([use('c1', 'bash')]).answers('c1', 'two');
    expect(shown(story).filter((line) => line.includes('result'))).toEqual([
      'user: result c1 one',
      'user: result c1 two',
    ]);
  });

  it('says why the platform answered a call', () => {
    const interrupted = started()
      .responds([use('c1', 'bash')])
      .sends(interrupt())
      .advances();
    expect(shown(interrupted).at(-1)).toBe(
      'user: error c1 Tool execution was interrupted before completion. Please retry.',
    );
    const asking = new Story({ agent: agentWith({ bash: 'always_ask' }) }).sends(message('hi')).claims();
    asking.responds([use('c1', 'bash')]);
    asking.sends(deny(asking.call('c1'), 'not on Fridays')).claims();
    expect(shown(asking).at(-1)).toBe('user: error c1 The user denied this tool call: not on Fridays');
  });

  it('makes one message of neighbours of one role', () => {
    const story = started().sends(interrupt()).advances().sends(message('again')).claims();
    expect(shown(story)).toEqual(['user: hi | again']);
    story.says('so far', { stopReason: 'pause_turn' }).says('and on');
    expect(shown(story)).toEqual(['user: hi | again', 'assistant: so far | and on']);
    const called = started()
      .responds([use('c1', 'bash')])
      .sends(message('stop it'), interrupt())
      .advances();
    expect(shown(called).at(-1)).toMatch(/^user: error c1 .* \| stop it$/);
  });

  it('shows a system message as such only to a model that takes it', () => {
    const story = started()
      .responds([use('c1', 'bash')])
      .sends(systemMessage('rule'))
      .answers('c1');
    expect(shown(story).at(-1)).toBe('user: result c1 ok | rule');
    expect(shown(story, { midConversationSystem: true }).slice(-2)).toEqual(['user: result c1 ok', 'system: rule']);
  });

  it('grows at its end only, so that the provider’s cache stays warm', () => {
    const story = started();
    const steps = [
      () => story.responds([textBlock('a'), use('c1', 'bash'), use('c2', 'read')]),
      () => story.answers('c1', 'one'),
      () => story.answers('c2', 'two'),
      () => story.says('done'),
      () => story.sends(message('more')).claims(),
    ];
    let before = JSON.stringify(shown(story));
    for (const step of steps) {
      step();
      if (story.step.kind !== 'act' || story.news.at(-1) !== 'span.model_request_start') continue;
      const after = JSON.stringify(shown(story));
      expect(after.startsWith(before.slice(0, -2))).toBe(true);
      before = after;
    }
  });
});

describe('a trimmed prompt', () => {
  it('shortens results before the seq, and only those', () => {
    const story = started()
      .responds([use('c1', 'bash')])
      .answers('c1', 'x'.repeat(600));
    const seq = story.state.seq;
    story.responds([use('c2', 'bash')]).answers('c2', 'y'.repeat(600));
    const lines = shown(story, { trimmedThrough: seq });
    expect(lines[2]).toContain(`${'x'.repeat(500)}\n[shortened to save room: 600 characters in all]`);
    expect(lines[4]).toContain('y'.repeat(600));
  });

  it('keeps short results whole and says what it left out', () => {
    const story = started().responds([use('c1', 'ask_human')]);
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png' as const, data: 'AA' },
    };
    story.sends({
      type: 'user.custom_tool_result',
      toolUseId: story.call('c1'),
      isError: undefined,
      content: [{ type: 'text', text: 'short' }, image],
    });
    const lines = shown(story, { trimmedThrough: (story.state.seq + 1) as Seq });
    expect(lines.at(-1)).toBe('user: result c1 short [image left out to save room]');
  });
});

describe('a compacted prompt', () => {
  const bare = { ...agentWith(), tools: agentWith().tools.slice(0, 1) };

  function full(): Story {
    const story = new Story({ agent: bare })
      .sends(message('hi'))
      .claims()
      .responds([use('c1', 'bash')]);
    return story.answers('c1').says('long', { usage: { inputTokens: 850, outputTokens: 0 } });
  }

  it('shows the summary in place of everything before it', () => {
    const story = full().sends(message('more')).claims().compacts('SUMMARY');
    expect(shown(story)).toHaveLength(1);
    expect(shown(story)[0]).toMatch(/^user: This conversation was shortened.*\n\nSUMMARY \| more$/s);
  });

  it('shows a message that was written before the summary and taken after it', () => {
    const story = full().sends(message('before')).claims();
    story.sends(message('during')).compacts('SUMMARY');
    expect(story.news).toContain('input.taken before during');
    expect(shown(story)[0]).toMatch(/SUMMARY \| before \| during$/);
  });

  it('is the same when only the records after the summary are read', () => {
    const story = full()
      .sends(message('before'))
      .claims()
      .compacts('SUMMARY')
      .responds([use('c2', 'bash')])
      .answers('c2');
    const whole = shown(story);
    const { compactedThrough } = story.state.context;
    const late = story.records.filter(
      (record) => record.seq > compactedThrough || record.kind === 'user.message' || record.kind === 'system.message',
    );
    story.records.splice(0, story.records.length, ...late);
    expect(shown(story)).toEqual(whole);
  });
});
