import type { SessionFoldRecord } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';
import { customResult, interrupt, message, systemMessage } from '../testing/fixtures.ts';
import { Story, use } from '../testing/story.ts';
import { CannotEvolve, evolveSession } from './evolve.ts';

/** The state after one more record that nobody decided. */
function after(story: Story, kind: string, facets: Record<string, unknown> = {}): () => unknown {
  const record = { kind, id: 'sevt_x', threadId: null, seq: story.state.seq + 1, time: story.now, facets };
  return () => evolveSession(story.state, record as unknown as SessionFoldRecord);
}

const idle = () => new Story();
const asked = () => new Story().sends(message('hi')).claims();
const called = () => asked().responds([use('c1', 'bash')]);
const over = () => new Story().archives();

describe('a record that cannot follow breaks its stream (L12)', () => {
  it.each<[string, () => unknown]>([
    ['a second create', after(idle(), 'session.created', idle().records[0]?.facets)],
    ['a call outside a turn', after(idle(), 'agent.tool_use', { tool: 'bash', permission: 'allow' })],
    [
      'a result for a call that is not there',
      after(called(), 'agent.tool_result', { toolUseId: 'sevt_none', chars: 0 }),
    ],
    ['a second result', after(called().answers('c1'), 'agent.tool_result', { toolUseId: 'sevt_5', chars: 0 })],
    ['a second model request', after(asked(), 'span.model_request_start', { purpose: 'turn' })],
    ['the end of a request that is not open', after(called(), 'span.model_request_end', { startId: 'sevt_1' })],
    ['the end of another request', after(asked(), 'span.model_request_end', { startId: 'sevt_1' })],
    ['the taking of an input that does not wait', after(idle(), 'input.taken', { seqs: [1] })],
    ['a response outside a turn', after(idle(), 'model.response', { stopReason: 'end_turn' })],
    ['work in a terminated session', after(over(), 'span.model_request_start', { purpose: 'turn' })],
  ])('%s', (_, fold) => {
    expect(fold).toThrow(CannotEvolve);
  });

  it('anything before the create', () => {
    const record = asked().records[1] as SessionFoldRecord;
    expect(() => evolveSession(null, record)).toThrow('before session.created');
  });
});

describe('the fold', () => {
  it('comes to the same state from the same records, and changes no earlier state', () => {
    const story = called().sends(message('more')).answers('c1').sends(interrupt()).advances();
    let state = null;
    for (const record of story.records) {
      if (state) deepFreeze(state);
      state = evolveSession(state, record);
    }
    expect(state).toEqual(story.state);
  });

  it('sees facets only: payloads change nothing', () => {
    const story = called().answers('c1').says('done');
    const bare = story.records.map(({ payload: _, ...record }) => record as SessionFoldRecord);
    expect(bare.reduce<Story['state'] | null>(evolveSession, null)).toEqual(story.state);
  });

  it('keeps the queue in the order of arrival', () => {
    const story = asked().sends(message('a'), systemMessage('b')).sends(interrupt()).sends(message('c'));
    expect(story.state.queue.map((input) => input.kind)).toEqual([
      'user.message',
      'system.message',
      'user.interrupt',
      'user.message',
    ]);
  });

  it('remembers the first idle, the first start and the last change', () => {
    const story = new Story().passes(5);
    expect(story.state).toMatchObject({ lastStop: null, startedAt: null });
    story.sends(message('hi')).passes(5).claims().says('hello').passes(5).sends(message('more'));
    expect(story.state).toMatchObject({
      lastStop: { type: 'end_turn' },
      startedAt: story.now - 10,
      updatedAt: story.now,
    });
  });

  it.each(['provisioned', 'lost', 'checkpointed', 'destroyed'] as const)('knows that a hand was %s', (status) => {
    const state = after(idle(), `hand.${status}`, { hand: 'main', generation: 3 })();
    expect(state).toMatchObject({ hand: { hand: 'main', generation: 3, status } });
  });

  it('counts a custom result into the next prompt', () => {
    const story = asked().responds([use('c1', 'ask_human')]);
    const before = story.state.context.charsSince;
    story.sends(customResult(story.call('c1'), 'x'.repeat(100)));
    expect(story.state.context.charsSince - before).toBeGreaterThan(100);
  });

  it('lets a session be deleted and erased', () => {
    const story = idle().deletes();
    expect(story.state.deletedAt).toBe(story.now);
    expect(after(story, 'session.erased')()).toMatchObject({ erased: true });
  });
});

function deepFreeze(value: object): void {
  Object.freeze(value);
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null && !Object.isFrozen(inner)) deepFreeze(inner as object);
  }
}
