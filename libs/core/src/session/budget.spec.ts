/** Contract 2.6 and 2.8: what a session used, and what it may use. A token costs a microcent here, a cent a million. */
import type { Microcents } from '@manyhands/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { customResult, interrupt, message } from '../testing/fixtures.ts';
import { Story, use } from '../testing/story.ts';
import { turnOf } from './evolve.ts';
import { addTokens, costOf, isBudgetReached, noTokens, noUsage, usageAt } from './usage.ts';

const oneCent = { usage: { inputTokens: 0, outputTokens: 1_000_000 } };
const almostOneCent = { usage: { inputTokens: 0, outputTokens: 999_999 } };
const runs = ['session.status_running', 'session.thread_status_running'];
const idles = (stop: string, threadStop = stop) => [
  `session.thread_status_idle ${threadStop}`,
  'session.usage',
  `session.status_idle ${stop}`,
];

function limited(budgetCents = 1): Story {
  const limits = { contextWindowTokens: 10_000_000 };
  return new Story({ budgetCents, limits }).sends(message('hi')).claims();
}

describe('a budget', () => {
  it('is exact: below the cap the next request opens, at the cap it does not', () => {
    const below = limited().responds([use('c1', 'bash')], almostOneCent);
    expect(below.answers('c1').news).toEqual(['agent.tool_result c1', 'span.model_request_start']);
    const at = limited().responds([use('c1', 'bash')], oneCent);
    expect(at.answers('c1').news).toEqual(['agent.tool_result c1', ...idles('budget_reached'), 'lease.released']);
  });

  it('lets a thread that crossed it and ended say so, while the session says why it stays', () => {
    expect(limited().says('done', oneCent).news.slice(-4)).toEqual([
      ...idles('budget_reached', 'end_turn'),
      'lease.released',
    ]);
  });

  it('stops before the request of a queued message, which then waits', () => {
    const story = limited().sends(message('more')).says('done', oneCent);
    expect(story.news.slice(-4)).toEqual([...idles('budget_reached'), 'lease.released']);
    expect(story.state.queue).toHaveLength(1);
    expect(story.updates({ budgetCents: 2 }).news).toEqual(['session.updated budget', ...runs]);
    expect(story.claims().news.slice(-2)).toEqual(['input.taken more', 'span.model_request_start']);
  });

  it('counts the running time', () => {
    const story = limited().responds([use('c1', 'bash')], { usage: {} });
    story.passes(3_600_000 / 8);
    expect(story.answers('c1').news).toContain('session.status_idle budget_reached');
  });

  it('waits behind calls that wait for the client', () => {
    const story = limited().responds([use('c1', 'ask_human')], oneCent);
    expect(story.news.slice(-4)).toEqual([...idles('requires_action c1'), 'lease.released']);
    expect(story.sends(customResult(story.call('c1'))).news).toEqual(['user.custom_tool_result c1', ...runs]);
    expect(story.claims().news).toEqual(['lease.taken w1', ...idles('budget_reached'), 'lease.released']);
  });

  it('counts the estimate of a request that told no use', () => {
    const story = limited();
    const estimate = turnOf(story.state.phase)?.request;
    expect(estimate?.estimatedInputTokens).toBeGreaterThan(0);
    story.sends(interrupt()).advances();
    expect(story.state.usage.inputTokens).toBe(estimate?.estimatedInputTokens);
    expect(story.state.usage.cost).toBe(estimate?.estimatedCost);
  });

  it('is checked at the retry of a request too', () => {
    const story = limited().fails({ usage: { ...noTokens, inputTokens: 1_000_000 } });
    expect(story.news).toContain('session.status_rescheduled');
    expect(story.claims().news).toEqual(['lease.taken w1', ...runs, ...idles('budget_reached'), 'lease.released']);
  });

  it('raised or removed lets the turn go on that it stopped', () => {
    for (const budgetCents of [2, null]) {
      const story = limited()
        .responds([use('c1', 'bash')], oneCent)
        .answers('c1');
      expect(story.updates({ budgetCents }).news).toEqual(['session.updated budget', ...runs]);
      expect(story.claims().news).toEqual(['lease.taken w1', 'span.model_request_start']);
    }
  });

  it('raised while the session runs changes nothing else', () => {
    expect(limited().updates({ budgetCents: 2 }).news).toEqual(['session.updated budget']);
  });

  it('must be raised above what is used, and cannot come after the create', () => {
    const story = limited(3);
    story.says('done', { usage: { outputTokens: 2_500_000 } });
    const refusal = (budgetCents: number) => story.decidesUpdate({ budgetCents });
    expect(refusal(2)).toMatchObject({ kind: 'refuse', refusal: { code: 'budget_not_raised' } });
    expect(refusal(3)).toEqual({ kind: 'write', records: [] });
    expect(story.updates({ budgetCents: null }).decidesUpdate({ budgetCents: 9 })).toMatchObject({
      refusal: { code: 'budget_create_only' },
    });
  });

  it('ignores an interrupt at the cap, and keeps the turn for when it is raised', () => {
    const story = limited()
      .responds([use('c1', 'bash')], oneCent)
      .answers('c1')
      .sends(interrupt());
    expect(story.news).toEqual(['user.interrupt ignored']);
    expect(story.updates({ budgetCents: 2 }).news).toEqual(['session.updated budget', ...runs]);
  });
});

describe('use', () => {
  it('adds tokens, cost and running time up, and stands in the event before each idle', () => {
    const story = new Story().sends(message('hi')).claims().passes(40).says('hello');
    story.passes(1_000).sends(message('more')).passes(5).claims().passes(5).says('hello again');
    const events = story.records.filter((record) => record.kind === 'session.usage');
    expect(events.map(({ facets: { usage } }) => [usage.inputTokens, usage.outputTokens, usage.activeMs])).toEqual([
      [10, 5, 40],
      [20, 10, 50],
    ]);
    expect(story.state.usage).toEqual(events.at(-1)?.facets.usage);
  });

  it('counts running time while it runs, and not while nothing runs', () => {
    const story = new Story().sends(message('hi')).passes(30);
    expect(usageAt(story.state, story.now).activeMs).toBe(30);
    story.claims().says('hello').passes(500);
    expect(usageAt(story.state, story.now).activeMs).toBe(30);
  });

  it('costs each kind of token its own price, and nothing without one', () => {
    const usage = {
      inputTokens: 1,
      outputTokens: 2,
      cacheReadInputTokens: 3,
      cacheCreation5mInputTokens: 4,
      cacheCreation1hInputTokens: 5,
    };
    const price = { input: 100_000, output: 10_000, cacheRead: 1_000, cacheWrite5m: 100, cacheWrite1h: 10 };
    expect(costOf(usage, price)).toBe(123_450);
    expect(costOf(usage, null)).toBe(0);
    expect(addTokens(noUsage, usage, 7 as Microcents)).toMatchObject({ ...usage, cost: 7, activeMs: 0 });
  });

  it('reaches a budget at its last microcent', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: -2, max: 2 }), (budgetCents, over) => {
        const { state } = new Story({ budgetCents });
        const cost = (budgetCents * 1_000_000 + over) as Microcents;
        const spent = { ...state, usage: { ...state.usage, cost } };
        expect(isBudgetReached(spent, state.time)).toBe(over >= 0);
      }),
    );
  });
});
