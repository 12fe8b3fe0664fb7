/** Whole turns, told in words: what the log says after each step (contract 3.4). */
import { describe, expect, it } from 'vitest';
import { agentWith, allow, customResult, deny, interrupt, message, systemMessage } from '../testing/fixtures.ts';
import { Story, textBlock, use } from '../testing/story.ts';
import { turnOf } from '../session/evolve.ts';

const runs = ['session.status_running', 'session.thread_status_running'];
const idles = (stop: string) => [`session.thread_status_idle ${stop}`, 'session.usage', `session.status_idle ${stop}`];
const ends = (stop: string) => [...idles(stop), 'lease.released'];

function started(...texts: string[]): Story {
  return new Story().sends(...(texts.length > 0 ? texts : ['hi']).map(message)).claims();
}

function asking(): Story {
  return new Story({ agent: agentWith({ bash: 'always_ask', write: 'always_ask' }) }).sends(message('hi')).claims();
}

describe('a turn of text', () => {
  it('is taken from the queue, asked, answered and ended', () => {
    const story = new Story().sends(message('hi')).claims().says('hello');
    expect(story.told).toEqual([
      'session.created',
      'user.message hi queued',
      ...runs,
      'lease.taken w1',
      'input.taken hi',
      'span.model_request_start',
      'model.response end_turn',
      'agent.message',
      'span.model_request_end ok',
      ...ends('end_turn'),
    ]);
  });

  it('starts with the session when the session brings its first message', () => {
    const story = new Story({ initialEvents: [message('hi'), systemMessage('be brief')] });
    expect(story.news).toEqual([
      'session.created',
      'user.message hi queued',
      'system.message be brief queued',
      ...runs,
    ]);
    expect(story.claims().news).toContain('input.taken hi be brief');
  });

  it('says thinking, runs of text and calls in the order of the response, under the ids that previews showed', () => {
    const story = started();
    const blocks = [
      { type: 'thinking', thinking: '...' },
      textBlock('a'),
      textBlock('b'),
      use('c1', 'bash'),
      textBlock(''),
      { type: 'redacted_thinking', data: '' },
      textBlock('c'),
    ];
    const eventIds = new Map([0, 1, 6].map((index) => [index, story.newId()]));
    story.settles({ ...story.response(blocks), eventIds } as ReturnType<Story['response']>);
    expect(story.news).toEqual([
      'model.response tool_use',
      'agent.thinking',
      'agent.message',
      'agent.tool_use c1 bash allow',
      'agent.thinking',
      'agent.message',
      'span.model_request_end ok',
    ]);
    const said = story.records.filter((record) => record.kind === 'agent.message');
    expect(said.map((record) => record.facets.blocks)).toEqual([[1, 2], [6]]);
    expect(said.map((record) => record.id)).toEqual([eventIds.get(1), eventIds.get(6)]);
  });

  it('goes on asking when the model only paused', () => {
    const story = started().says('so far', { stopReason: 'pause_turn' });
    expect(story.news.slice(-2)).toEqual(['span.model_request_end ok', 'span.model_request_start']);
  });

  it('ends with a refusal, and says why', () => {
    const stopDetails = { category: 'cyber', explanation: 'no' };
    const story = started().says('I will not', { stopReason: 'refusal', stopDetails });
    expect(story.news.slice(-4)).toEqual(ends('refusal'));
    const idle = story.records.filter((record) => record.kind.endsWith('status_idle'));
    expect(idle.map((record) => record.payload)).toEqual([{ stopDetails }, { stopDetails }]);
    expect(story.sends(message('something else')).claims().news).toContain('span.model_request_start');
  });
});

describe('tool calls', () => {
  it('run, are answered one by one as they finish, and then the model is asked again', () => {
    const story = started().responds([use('c1', 'read'), use('c2', 'read')]);
    expect(story.answers('c2').news).toEqual(['agent.tool_result c2']);
    expect(story.answers('c1').news).toEqual(['agent.tool_result c1', 'span.model_request_start']);
  });

  it('name the hand that answered first, once for each generation', () => {
    const story = started().responds([use('c1', 'bash'), use('c2', 'bash')]);
    expect(story.answers('c1', 'ok', 1).news).toEqual(['hand.provisioned 1', 'agent.tool_result c1']);
    expect(story.answers('c2', 'ok', 1).news[0]).toBe('agent.tool_result c2');
  });

  it('that the agent may not use are answered at once', () => {
    const story = new Story({ agent: agentWith({ grep: 'disabled' }) }).sends(message('hi')).claims();
    story.responds([use('c1', 'grep'), use('c2', 'dance')]);
    expect(story.news.slice(1)).toEqual([
      'agent.tool_use c1 grep deny',
      'agent.tool_use c2 unknown deny',
      'span.model_request_end ok',
      'agent.tool_result c1 not_enabled',
      'agent.tool_result c2 not_enabled',
      'span.model_request_start',
    ]);
  });

  it('that the output limit cut are answered, not run', () => {
    const cut = started().responds([use('c1', 'read'), use('c2', 'write')], { stopReason: 'max_tokens' });
    expect(cut.news.slice(-2)).toEqual(['span.model_request_end ok', 'agent.tool_result c2 cut_off']);
    expect(cut.answers('c1').news).toEqual(['agent.tool_result c1', 'span.model_request_start']);
    const custom = started().responds([use('c1', 'ask_human')], { stopReason: 'max_tokens' });
    expect(custom.news.slice(-2)).toEqual(['user.custom_tool_result c1 cut_off', 'span.model_request_start']);
    const text = started().says('and so', { stopReason: 'max_tokens' });
    expect(text.news.slice(-4)).toEqual(ends('end_turn'));
  });

  it('of a hand that died are made again if they had not begun, else answered with an error', () => {
    const story = started()
      .responds([use('c1', 'bash'), use('c2', 'bash')])
      .answers('c1', 'ok', 1);
    expect(story.losesHand('c2', 1, false).news).toEqual(['hand.lost 1']);
    expect(story.step).toMatchObject({ kind: 'act', actions: [{ kind: 'execute-tool', key: story.call('c2') }] });
    expect(story.losesHand('c2', 2, true).news).toEqual([
      'hand.lost 2',
      'agent.tool_result c2 sandbox_lost',
      'span.model_request_start',
    ]);
  });

  it('answered by a hand that was given up meanwhile do not bring it back', () => {
    const story = started()
      .responds([use('c1', 'read'), use('c2', 'read'), use('c3', 'read')])
      .answers('c3', 'ok', 1);
    story.losesHand('c2', 1, false);
    expect(story.answers('c1', 'from its journal', 1).news).toEqual(['agent.tool_result c1']);
    expect(story.state.hand).toMatchObject({ generation: 1, status: 'lost' });
    story.answers('c2', 'ok', 2);
    expect(story.state.hand).toMatchObject({ generation: 2, status: 'provisioned' });
  });
});

describe('calls that wait for the client', () => {
  it('stop the turn when nothing else is left to do, with the ids of all', () => {
    const story = asking().responds([use('c1', 'ask_human'), use('c2', 'bash'), use('c3', 'read')]);
    expect(story.news.at(-1)).toBe('span.model_request_end ok');
    expect(story.answers('c3').news).toEqual(['agent.tool_result c3', ...ends('requires_action c1 c2')]);
  });

  it('answered in part, say idle again with those that remain', () => {
    const story = asking().responds([use('c1', 'ask_human'), use('c2', 'bash')]);
    story.sends(allow(story.call('c2')));
    expect(story.news).toEqual(['user.tool_confirmation c2 allow', ...idles('requires_action c1')]);
    story.sends(customResult(story.call('c1')));
    expect(story.news).toEqual(['user.custom_tool_result c1', ...runs]);
    expect(story.claims().news).toEqual(['lease.taken w1']);
    expect(story.step).toMatchObject({ kind: 'act', actions: [{ kind: 'execute-tool', key: story.call('c2') }] });
  });

  it('answered all at once, say idle no more', () => {
    const story = asking().responds([use('c1', 'ask_human'), use('c2', 'ask_human')]);
    story.sends(customResult(story.call('c1')), customResult(story.call('c2')));
    expect(story.news).toEqual(['user.custom_tool_result c1', 'user.custom_tool_result c2', ...runs]);
    expect(story.claims().news).toEqual(['lease.taken w1', 'span.model_request_start']);
  });

  it('answered before the idle would come, let the turn go on without one', () => {
    const story = started().responds([use('c1', 'ask_human'), use('c2', 'bash')]);
    expect(story.sends(customResult(story.call('c1'))).news).toEqual(['user.custom_tool_result c1']);
    expect(story.answers('c2').news).toEqual(['agent.tool_result c2', 'span.model_request_start']);
  });

  it('denied, tell the model what the client said', () => {
    const story = asking().responds([use('c1', 'bash')]);
    story.sends(deny(story.call('c1'), 'not on Fridays')).claims();
    expect(story.news).toEqual(['lease.taken w1', 'agent.tool_result c1 denied_by_user', 'span.model_request_start']);
    const result = story.records.find((record) => record.kind === 'agent.tool_result');
    const confirmation = story.records.find((record) => record.kind === 'user.tool_confirmation');
    expect(result?.facets.confirmationSeq).toBe(confirmation?.seq);
  });

  it('denied while others run, are answered as soon as the holder sees it', () => {
    const story = asking().responds([use('c1', 'bash'), use('c2', 'read')]);
    story.sends(deny(story.call('c1')));
    expect(story.advances().news).toEqual(['agent.tool_result c1 denied_by_user']);
  });

  it('take a message in the request that answers the last one, for the turn after', () => {
    const story = started().responds([use('c1', 'ask_human')]);
    story.sends(customResult(story.call('c1')), message('and then'));
    expect(story.news).toEqual(['user.custom_tool_result c1', 'user.message and then queued', ...runs]);
    expect(story.claims().news).toEqual(['lease.taken w1', 'span.model_request_start']);
    expect(story.says('done').news.slice(-2)).toEqual(['input.taken and then', 'span.model_request_start']);
  });
});

describe('messages to a running session', () => {
  it('wait for the end of the turn, and are taken together', () => {
    const story = started().sends(message('second')).sends(message('third'), systemMessage('rule'));
    expect(story.step).toMatchObject({ kind: 'act' });
    story.responds([use('c1', 'bash')]);
    expect(story.answers('c1').news).toEqual(['agent.tool_result c1', 'span.model_request_start']);
    expect(story.says('first done').news).toEqual([
      'model.response end_turn',
      'agent.message',
      'span.model_request_end ok',
      'input.taken second third rule',
      'span.model_request_start',
    ]);
    expect(story.state.queue).toEqual([]);
    expect(story.says('all done').news.slice(-4)).toEqual(ends('end_turn'));
  });

  it('let a system message at their head into the turn that goes on', () => {
    const story = started()
      .responds([use('c1', 'bash')])
      .sends(systemMessage('rule'))
      .sends(message('second'));
    expect(story.answers('c1').news).toEqual(['agent.tool_result c1', 'input.taken rule', 'span.model_request_start']);
    expect(story.state.queue.map((input) => input.kind)).toEqual(['user.message']);
  });

  it('are refused when a hundred wait, but interrupts are not', () => {
    const story = started();
    for (let sent = 0; sent < 100; sent++) story.sends(message(`m${sent}`));
    expect(() => story.sends(message('one more'))).toThrow('queue_full');
    expect(() => story.sends(systemMessage('one more'))).toThrow('queue_full');
    expect(story.sends(interrupt()).news).toEqual(['user.interrupt queued']);
    expect(() => story.advances().sends(message('again'))).not.toThrow();
  });

  it('leave a system message without a user message waiting for one', () => {
    const story = new Story().sends(systemMessage('rule'));
    expect(story.state.phase.status).toBe('idle');
    expect(story.sends(message('hi')).claims().news).toContain('input.taken rule hi');
  });
});

describe('an interrupt', () => {
  it('closes an open model request and ends the turn', () => {
    const story = started().sends(interrupt());
    expect(story.news).toEqual(['user.interrupt queued']);
    expect(story.advances().news).toEqual([
      'span.model_request_end error',
      'input.taken interrupt',
      ...ends('end_turn'),
    ]);
  });

  it('answers running and waiting calls with an error', () => {
    const story = started()
      .responds([use('c1', 'bash'), use('c2', 'ask_human')])
      .sends(interrupt());
    expect(story.advances().news).toEqual([
      'input.taken interrupt',
      'agent.tool_result c1 interrupted',
      'user.custom_tool_result c2 interrupted',
      ...ends('end_turn'),
    ]);
  });

  it('leaves of a response that it overtook nothing but its use', () => {
    const story = started().sends(interrupt());
    story.says('too late', { usage: { outputTokens: 7 } });
    expect(story.news).toEqual(['span.model_request_end error', 'input.taken interrupt', ...ends('end_turn')]);
    expect(story.state.usage.outputTokens).toBe(7);
  });

  it('leaves of a finished tool call that it overtook nothing but its hand', () => {
    const story = started()
      .responds([use('c1', 'bash')])
      .sends(interrupt())
      .answers('c1', 'too late', 1);
    expect(story.news).toEqual([
      'hand.provisioned 1',
      'input.taken interrupt',
      'agent.tool_result c1 interrupted',
      ...ends('end_turn'),
    ]);
  });

  it('is lost to a response that was written before it, and ends the request after', () => {
    const story = started()
      .responds([use('c1', 'bash')])
      .answers('c1')
      .sends(interrupt())
      .advances();
    expect(story.news[0]).toBe('span.model_request_end error');
  });

  it('lets the message after it in the same request start the next turn', () => {
    const story = started().sends(interrupt(), message('rather this'));
    expect(story.news).toEqual(['user.interrupt queued', 'user.message rather this queued']);
    expect(story.advances().news).toEqual([
      'span.model_request_end error',
      'input.taken interrupt',
      ...idles('end_turn'),
      ...runs,
      'input.taken rather this',
      'span.model_request_start',
    ]);
  });

  it('overtakes messages that wait, which then start the next turn', () => {
    const story = started().sends(message('waits')).sends(interrupt()).advances();
    expect(story.news).toContain('input.taken waits');
    expect(story.news.indexOf('input.taken interrupt')).toBeLessThan(story.news.indexOf('input.taken waits'));
  });

  it('sent twice is one', () => {
    const story = started().sends(interrupt()).sends(interrupt());
    expect(story.advances().news.slice(0, 2)).toEqual([
      'span.model_request_end error',
      'input.taken interrupt interrupt',
    ]);
  });

  it('before the session was claimed is applied by the claim', () => {
    const story = new Story().sends(message('hi')).sends(interrupt()).claims();
    expect(story.news).toEqual([
      'lease.taken w1',
      'input.taken interrupt',
      ...idles('end_turn'),
      ...runs,
      'input.taken hi',
      'span.model_request_start',
    ]);
  });

  it('at requires_action lets a message after it in the same request start a turn', () => {
    const story = started()
      .responds([use('c1', 'ask_human')])
      .sends(interrupt(), message('forget it'));
    expect(story.news).toEqual([
      'user.interrupt placed',
      'user.custom_tool_result c1 interrupted',
      ...idles('end_turn'),
      'user.message forget it queued',
      ...runs,
    ]);
  });

  it('at requires_action closes a call that the same request allowed', () => {
    const story = asking().responds([use('c1', 'bash')]);
    story.sends(allow(story.call('c1')), interrupt());
    expect(story.news).toEqual([
      'user.tool_confirmation c1 allow',
      'user.interrupt placed',
      'agent.tool_result c1 interrupted',
      ...idles('end_turn'),
    ]);
  });

  it('ends the wait for a retry', () => {
    const story = started().fails().sends(interrupt()).claims('w2');
    expect(story.news).toEqual(['lease.taken w2', ...runs, 'input.taken interrupt', ...ends('end_turn')]);
  });

  it('may name the primary thread, and no other', () => {
    expect(started().sends(interrupt('sthr_1')).news).toEqual(['user.interrupt queued']);
    expect(() => started().sends(interrupt('sthr_2'))).toThrow('not_found');
  });
});

describe('a transient failure', () => {
  const rescheduled = [
    'span.model_request_end error',
    'session.error model_overloaded_error retrying',
    'session.thread_status_rescheduled',
    'session.status_rescheduled',
    'lease.released',
  ];

  it('is written, waited for and tried again, and forgotten after an answer', () => {
    const story = started().fails();
    expect(story.news).toEqual(rescheduled);
    expect(story.state.phase).toMatchObject({ status: 'rescheduling', retryAt: story.now + 1_000 });
    expect(story.passes(1_000).claims('w2').news).toEqual(['lease.taken w2', ...runs, 'span.model_request_start']);
    expect(turnOf(story.state.phase)?.failures).toBe(1);
    story.responds([use('c1', 'bash')]);
    expect(turnOf(story.state.phase)?.failures).toBe(0);
  });

  it('that does not end is given up, the queue dropped, and the next message starts anew', () => {
    const story = started().fails().claims().fails().sends(message('waits')).claims().fails();
    expect(story.news).toEqual([
      'span.model_request_end error',
      'session.error model_overloaded_error exhausted',
      'input.dropped waits',
      ...ends('retries_exhausted'),
    ]);
    expect(story.state.queue).toEqual([]);
    expect(story.sends(message('again')).claims().news.slice(-2)).toEqual([
      'input.taken again',
      'span.model_request_start',
    ]);
    expect(turnOf(story.state.phase)?.failures).toBe(0);
  });

  it('that is not transient gives up at once', () => {
    const story = started().fails({ retriable: false, errorType: 'billing_error' });
    expect(story.news.slice(1)).toEqual(['session.error billing_error exhausted', ...ends('retries_exhausted')]);
  });

  it('that an interrupt overtook is no failure', () => {
    const story = started().sends(interrupt()).fails();
    expect(story.news).toEqual(['span.model_request_end error', 'input.taken interrupt', ...ends('end_turn')]);
  });

  it('does not count the time of the wait as running', () => {
    const story = started().passes(100).fails().passes(5_000).claims().passes(50).says('at last');
    expect(story.state.usage.activeMs).toBe(150);
  });
});

describe('an outcome that nobody waits for any more', () => {
  it('writes nothing', () => {
    const story = started();
    const response = story.response([textBlock('late')]);
    const failure = story.failure();
    story.sends(interrupt()).advances();
    expect(story.settles(response).news).toEqual([]);
    expect(story.settles(failure).news).toEqual([]);
    const tools = started().responds([use('c1', 'bash')]);
    const answer = tools.answer('c1', 'late', 1);
    tools.sends(interrupt()).advances();
    expect(tools.settles(answer).news).toEqual([]);
    expect(tools.losesHand('c1', 1, true).news).toEqual([]);
  });
});
