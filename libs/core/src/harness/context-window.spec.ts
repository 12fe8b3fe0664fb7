/** What is done when a prompt grows toward the model's window of 1,000 tokens: trim above 600, compact above 800. */
import { describe, expect, it } from 'vitest';
import { agentWith, interrupt, message } from '../testing/fixtures.ts';
import { Story, use } from '../testing/story.ts';
import { turnOf } from '../session/evolve.ts';
import { noTokens } from '../session/usage.ts';
import { estimatedTokens } from './advance.ts';

const bare = { ...agentWith(), tools: agentWith().tools.slice(0, 1) };

/** A turn whose first response says how large the context is by now. */
function grownTo(tokens: number, resultChars = 40): Story {
  const story = new Story({ agent: bare }).sends(message('hi')).claims();
  story.responds([use('c1', 'bash')], { usage: { inputTokens: 10, outputTokens: 0 } });
  story.answers('c1', 'x'.repeat(resultChars));
  return story.responds([use('c2', 'bash')], { usage: { inputTokens: tokens, outputTokens: 0 } });
}

const gaveUp = [
  'session.error compaction_limit_reached_error exhausted',
  'session.thread_status_idle retries_exhausted',
  'session.usage',
  'session.status_idle retries_exhausted',
  'lease.released',
];

describe('the context', () => {
  it('is estimated by what the provider counted, and four characters a token for what came since', () => {
    const story = grownTo(300);
    expect(estimatedTokens(story.state)).toBe(300);
    story.answers('c2', 'x'.repeat(400));
    expect(estimatedTokens(story.state)).toBe(400);
    expect(turnOf(story.state.phase)?.request?.estimatedInputTokens).toBe(400);
  });

  it('counts messages when they are taken, not while they wait', () => {
    const story = grownTo(300);
    story.sends(message('y'.repeat(1_200)));
    expect(estimatedTokens(story.state)).toBe(300);
    story.answers('c2', '').says('done', { usage: { inputTokens: 300, outputTokens: 0 } });
    expect(estimatedTokens(story.state)).toBeGreaterThan(600);
  });

  it('that fits is shown whole', () => {
    expect(grownTo(590).answers('c2', '').news).toEqual(['agent.tool_result c2', 'span.model_request_start']);
  });

  it('that nears the window has its older results trimmed, once', () => {
    const story = grownTo(700, 2_000).answers('c2', 'x'.repeat(40));
    expect(story.news).toEqual(['agent.tool_result c2', 'context.trimmed', 'span.model_request_start']);
    const { context } = story.state;
    expect(context).toMatchObject({ tokens: 200, olderResultChars: 0, trimmedThrough: context.lastResponseSeq });
    expect(story.says('done', { usage: { inputTokens: 700 } }).news).not.toContain('context.trimmed');
  });

  it('that nears the window and cannot be trimmed enough is compacted by the model', () => {
    const story = grownTo(850).answers('c2', '');
    expect(story.news).toEqual(['agent.tool_result c2', 'span.model_request_start compaction']);
    const startSeq = turnOf(story.state.phase)?.request?.startSeq ?? 0;
    story.compacts('what happened');
    expect(story.news).toEqual([
      'context.compacted',
      'span.model_request_end ok',
      'agent.thread_context_compacted',
      'span.model_request_start',
    ]);
    expect(story.state.context).toMatchObject({ compactedThrough: startSeq - 1, tokens: 0 });
  });

  it('is compacted before a new message is taken, which then stands after the summary', () => {
    const story = grownTo(500)
      .answers('c2', '')
      .says('done', { usage: { inputTokens: 500, outputTokens: 0 } });
    story.sends(message('y'.repeat(2_000))).claims();
    expect(story.news).toEqual(['lease.taken w1', 'span.model_request_start compaction']);
    story.compacts('what happened');
    expect(story.news.slice(-2)).toEqual([`input.taken ${'y'.repeat(2_000)}`, 'span.model_request_start']);
  });

  it('that a message alone fills is not compacted: there is nothing to win', () => {
    const story = new Story({ agent: bare }).sends(message('y'.repeat(4_000))).claims();
    expect(story.news.at(-1)).toBe('span.model_request_start');
  });

  it('that the provider refused as too long is made smaller and asked again', () => {
    const story = grownTo(300, 2_000).answers('c2', '').fails({ retriable: false, tooLong: true });
    expect(story.news).toEqual([
      'span.model_request_end error too long',
      'context.trimmed',
      'span.model_request_start compaction',
    ]);
    expect(turnOf(story.state.phase)?.request?.estimatedInputTokens).toBe(1_000);
    expect(story.compacts('short').news.at(-1)).toBe('span.model_request_start');
  });

  it('that stays too large after two compactions ends the turn', () => {
    const story = grownTo(850).answers('c2', '').compacts('z'.repeat(100));
    story.fails({ retriable: false, tooLong: true }).compacts('z'.repeat(100));
    expect(story.fails({ retriable: false, tooLong: true, errorType: 'model_request_failed_error' }).news).toContain(
      'session.status_idle retries_exhausted',
    );
  });

  it('whose summaries make no room ends the turn with its own error', () => {
    const story = grownTo(850).answers('c2', '').compacts('short');
    story.fails({ retriable: false, tooLong: true }).compacts('short');
    const { context } = story.state;
    expect(turnOf(story.state.phase)?.compactions).toBe(2);
    Object.assign(context, { tokens: 900 });
    story.fails({ usage: noTokens });
    expect(story.passes(1_000).claims().news.slice(-5)).toEqual(gaveUp);
  });

  it('is asked for again from the start of the count after an answer', () => {
    const story = grownTo(850)
      .answers('c2', '')
      .compacts('short')
      .responds([use('c3', 'bash')]);
    expect(turnOf(story.state.phase)?.compactions).toBe(0);
  });

  it('is not compacted when an interrupt overtook the summary', () => {
    const story = grownTo(850).answers('c2', '').sends(interrupt()).compacts('late');
    expect(story.news).not.toContain('context.compacted');
    expect(story.news.at(-1)).toBe('lease.released');
  });
});
