/** H1, H2, H6: the commit by which a worker takes a session. */
import type { Instant } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';
import { customResult, interrupt, message } from '../testing/fixtures.ts';
import { Story, use } from '../testing/story.ts';
import { runnableOf } from './claim-records.ts';

const idles = (stop: string) => [`session.thread_status_idle ${stop}`, 'session.usage', `session.status_idle ${stop}`];

describe('a claim', () => {
  it('of new work takes the inputs and opens the request, under the next epoch', () => {
    const story = new Story().sends(message('hi')).claims('w1');
    expect(story.news).toEqual(['lease.taken w1', 'input.taken hi', 'span.model_request_start']);
    expect(story.state).toMatchObject({ epoch: 1, lease: { incarnation: 'w1', takenAt: story.now } });
  });

  it('of a dead worker’s request closes its span and opens another', () => {
    const story = new Story().sends(message('hi')).claims('w1').claims('w2');
    expect(story.news).toEqual(['lease.taken w2', 'span.model_request_end error', 'span.model_request_start']);
    const starts = story.records.filter((record) => record.kind === 'span.model_request_start');
    expect(new Set(starts.map((record) => record.id)).size).toBe(2);
  });

  it('of a dead worker’s tool calls runs them under their own ids', () => {
    const story = new Story()
      .sends(message('hi'))
      .claims('w1')
      .responds([use('c1', 'bash')])
      .claims('w2');
    expect(story.news).toEqual(['lease.taken w2']);
    expect(story.step).toMatchObject({ kind: 'act', actions: [{ kind: 'execute-tool', key: story.call('c1') }] });
  });

  it('of a turn whose last answer came from the client goes on with the model', () => {
    const story = new Story()
      .sends(message('hi'))
      .claims()
      .responds([use('c1', 'ask_human')]);
    story.sends(customResult(story.call('c1')));
    expect(story.claims().news).toEqual(['lease.taken w1', 'span.model_request_start']);
  });

  it('with an interrupt waiting ends the turn in the same commit', () => {
    const story = new Story()
      .sends(message('hi'))
      .claims('w1')
      .responds([use('c1', 'bash')])
      .sends(interrupt());
    expect(story.claims('w2').news).toEqual([
      'lease.taken w2',
      'input.taken interrupt',
      'agent.tool_result c1 interrupted',
      ...idles('end_turn'),
      'lease.released',
    ]);
    expect(story.state.lease).toBeNull();
  });

  it('of a dead worker’s compaction compacts again', () => {
    const story = new Story({ limits: { contextWindowTokens: 100 } }).sends(message('hi')).claims();
    story.responds([use('c1', 'bash')], { usage: { inputTokens: 90 } }).answers('c1');
    expect(story.news).toContain('span.model_request_start compaction');
    expect(story.claims('w2').news).toEqual([
      'lease.taken w2',
      'span.model_request_end error',
      'span.model_request_start compaction',
    ]);
  });
});

describe('barren takeovers (H6)', () => {
  const died = (times: number): Story => {
    const story = new Story().sends(message('hi')).claims('w0');
    for (let n = 1; n <= times; n++) story.passes(60_000).claims(`w${n}`);
    return story;
  };

  it('are claims over a lease that was not released', () => {
    expect(died(0).state.barrenTakeovers).toBe(0);
    expect(died(3).state.barrenTakeovers).toBe(3);
  });

  it('are forgotten after a response, a tool result or a release', () => {
    expect(died(3).responds([use('c1', 'bash')]).state.barrenTakeovers).toBe(0);
    const tool = died(0)
      .responds([use('c1', 'bash'), use('c2', 'bash')])
      .claims('w8')
      .claims('w9');
    expect(tool.state.barrenTakeovers).toBe(2);
    expect(tool.answers('c1').state.barrenTakeovers).toBe(0);
    expect(died(3).fails().state.barrenTakeovers).toBe(0);
  });

  it('are not forgotten for what a client sends', () => {
    const story = new Story()
      .sends(message('hi'))
      .claims()
      .responds([use('c1', 'ask_human'), use('c2', 'bash')]);
    story.claims('w2').sends(customResult(story.call('c1')));
    expect(story.state.barrenTakeovers).toBe(1);
  });

  it('give the turn up at the sixth, with everything open answered and what waits dropped', () => {
    const story = new Story()
      .sends(message('hi'))
      .claims('w0')
      .responds([use('c1', 'bash'), use('c2', 'ask_human')]);
    story.sends(message('waits'));
    for (let n = 1; n <= 5; n++) story.claims(`w${n}`);
    expect(story.news).toEqual(['lease.taken w5']);
    expect(story.claims('w6').news).toEqual([
      'lease.taken w6',
      'session.error unknown_error exhausted',
      'agent.tool_result c1 retries_exhausted',
      'user.custom_tool_result c2 retries_exhausted',
      'input.dropped waits',
      ...idles('retries_exhausted'),
      'lease.released',
    ]);
    expect(runnableOf(story.state, story.limits.takeover)).toBeNull();
    expect(story.sends(message('again')).claims('w7').state.barrenTakeovers).toBe(0);
  });

  it('close the span of a request when they give up', () => {
    expect(died(5).claims('w6').news.slice(0, 3)).toEqual([
      'lease.taken w6',
      'span.model_request_end error',
      'session.error unknown_error exhausted',
    ]);
  });

  it.each([
    [0, 0],
    [1, 5_000],
    [2, 30_000],
    [5, 30_000],
  ])('after %i make the next wait %i ms from the last lease', (takeovers, waitMs) => {
    const { state, limits } = died(takeovers);
    const expected = waitMs === 0 ? 0 : (state.lease?.takenAt ?? 0) + waitMs;
    expect(runnableOf(state, limits.takeover)).toEqual({
      holder: `w${takeovers}`,
      notBefore: expected,
      barrenTakeovers: takeovers,
    });
  });
});

describe('runnable', () => {
  const takeover = new Story().limits.takeover;
  const row = (story: Story) => runnableOf(story.state, takeover);

  it('is who runs or is rescheduled, and nobody else', () => {
    const story = new Story();
    expect(row(story)).toBeNull();
    expect(row(story.sends(message('hi')))).toEqual({ holder: null, notBefore: 0, barrenTakeovers: 0 });
    expect(row(story.claims('w1'))).toMatchObject({ holder: 'w1' });
    expect(row(story.responds([use('c1', 'ask_human')]))).toBeNull();
    expect(row(story.archives())).toBeNull();
  });

  it('waits for a retry, unless an interrupt came', () => {
    const story = new Story().sends(message('hi')).claims().fails();
    expect(row(story)).toMatchObject({ holder: null, notBefore: (story.now + 1_000) as Instant });
    expect(row(story.sends(message('more')))).toMatchObject({ notBefore: story.now + 1_000 });
    expect(row(story.sends(interrupt()))).toMatchObject({ notBefore: 0 });
  });

  it('ends with the session', () => {
    expect(row(new Story().sends(message('hi')).claims().says('hello').deletes())).toBeNull();
  });
});
