import { describe, expect, it } from 'vitest';
import { agentWith, interrupt, message } from '../testing/fixtures.ts';
import { Refused, Story } from '../testing/story.ts';
import { charsOfAgent } from './decide.ts';

describe('create', () => {
  it('writes what the fold needs as facets and the contents as payload', () => {
    const story = new Story({ budgetCents: 50 });
    expect(story.told).toEqual(['session.created']);
    expect(story.state).toMatchObject({
      phase: { status: 'idle', stopReason: null, turn: null },
      agentVersion: 1,
      model: 'model-1',
      budgetCents: 50,
      contents: { titleSeq: 1, metadataSeq: 1, agentSeq: 1 },
      lastStop: null,
      runningSince: null,
    });
    const record = story.records[0];
    expect(JSON.stringify(record?.facets)).not.toContain('Agent');
    expect(record?.payload).toMatchObject({
      title: null,
      agent: { name: 'Agent' },
      environment: { name: 'environment' },
    });
  });

  it('refuses as a whole when an initial event is refused', () => {
    expect(() => new Story({ initialEvents: [message('hi'), interrupt('sthr_other')] })).toThrow(Refused);
  });
});

describe('update', () => {
  it('writes only what changed, and nothing when nothing did', () => {
    const story = new Story().updates({ title: 'a' });
    expect(story.news).toEqual(['session.updated title']);
    expect(story.records.at(-1)?.payload).toEqual({ title: 'a' });
    expect(story.updates({ title: 'a' }).news).toEqual([]);
    expect(story.updates({ metadata: {} }).news).toEqual([]);
    expect(story.updates({ metadata: { gone: null } }).news).toEqual([]);
  });

  it('patches metadata key by key', () => {
    const story = new Story({ metadata: { a: '1', b: '2', c: '3' } });
    const decision = story.decidesUpdate({ metadata: { a: '1', b: null, d: '4' } });
    expect(decision).toMatchObject({
      records: [{ facets: { changed: ['metadata'] }, payload: { metadata: { a: '1', c: '3', d: '4' } } }],
    });
  });

  it('remembers where title, metadata and agent stand', () => {
    const story = new Story().updates({ title: 'a' }).updates({ metadata: { k: 'v' } });
    expect(story.state.contents).toEqual({ titleSeq: 2, metadataSeq: 3, agentSeq: 1 });
    story.updates({ agent: { tools: [] } });
    expect(story.state.contents.agentSeq).toBe(4);
  });

  it('moves the estimate of the next prompt by what the agent grew or shrank', () => {
    const story = new Story();
    const before = story.state.context.charsSince;
    story.updates({ agent: { tools: [] } });
    const shrunk = charsOfAgent(agentWith()) - charsOfAgent({ system: null, tools: [] });
    expect(story.state.context.charsSince).toBe(before - shrunk);
  });
});

describe('archive and delete', () => {
  it('end the primary thread before the session', () => {
    const story = new Story().archives();
    expect(story.news).toEqual(['session.thread_status_terminated', 'session.status_terminated archived']);
    expect(story.state).toMatchObject({ phase: { status: 'terminated' }, archivedAt: story.now });
  });

  it('are told to whoever comes after an archive', () => {
    const archived = new Story().archives();
    const refusals = [archived.decidesOn(message('hi')), archived.decidesUpdate({ title: 'a' })];
    expect(refusals).toMatchObject([
      { refusal: { code: 'session_terminated', message: 'The session is archived and accepts no events.' } },
      { refusal: { code: 'session_terminated', message: 'The session is archived and cannot be updated.' } },
    ]);
  });

  it('keep the stop reason of the last idle', () => {
    const story = new Story().sends(message('hi')).claims().says('hello').archives();
    expect(story.state).toMatchObject({ phase: { status: 'terminated' }, lastStop: { type: 'end_turn' } });
  });
});
