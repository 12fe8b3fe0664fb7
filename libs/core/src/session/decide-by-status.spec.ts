/** The table of contract 2.4: what each status allows. */
import { describe, expect, it } from 'vitest';
import { agentWith, allow, customResult, deny, interrupt, message, systemMessage } from '../testing/fixtures.ts';
import { Refused, Story, textBlock, use } from '../testing/story.ts';

const statuses = {
  idle: () => new Story().sends(message('hi')).claims().says('hello'),
  'requires_action, custom': () =>
    new Story()
      .sends(message('hi'))
      .claims()
      .responds([use('c1', 'ask_human')]),
  'requires_action, ask': () =>
    asking()
      .sends(message('hi'))
      .claims()
      .responds([use('c1', 'bash')]),
  budget_reached: () =>
    new Story({ budgetCents: 1 })
      .sends(message('hi'))
      .claims()
      .says('hello', { usage: { outputTokens: 1_000_000 } }),
  running: () => new Story().sends(message('hi')).claims(),
  'running, custom call open': () =>
    new Story()
      .sends(message('hi'))
      .claims()
      .responds([use('c1', 'ask_human'), use('c2', 'bash')]),
  'running, asked': () =>
    asking()
      .sends(message('hi'))
      .claims()
      .responds([use('c1', 'bash'), use('c2', 'read')]),
  rescheduling: () => new Story().sends(message('hi')).claims().fails(),
  terminated: () => new Story().sends(message('hi')).claims().says('hello').archives(),
} satisfies Record<string, () => Story>;

type Status = keyof typeof statuses;

function asking(): Story {
  return new Story({ agent: agentWith({ bash: 'always_ask' }) });
}

const operations = {
  'user.message': (story: Story) => story.sends(message('more')),
  'system.message': (story: Story) => story.sends(systemMessage('rule')),
  'result and system.message': (story: Story) => story.sends(customResult(story.call('c1')), systemMessage('rule')),
  confirmation: (story: Story) => story.sends(allow(story.call('c1'))),
  'custom result': (story: Story) => story.sends(customResult(story.call('c1'))),
  'user.interrupt': (story: Story) => story.sends(interrupt()),
  'update title': (story: Story) => story.updates({ title: 'new' }),
  'update agent': (story: Story) => story.updates({ agent: { tools: [] } }),
  'update budget': (story: Story) => story.updates({ budgetCents: 100 }),
  'remove budget': (story: Story) => story.updates({ budgetCents: null }),
  archive: (story: Story) => story.archives(),
  delete: (story: Story) => story.deletes(),
} satisfies Record<string, (story: Story) => Story>;

type Operation = keyof typeof operations;

function outcomeOf(status: Status, operation: Operation): string[] {
  const story = statuses[status]();
  try {
    return operations[operation](story).news;
  } catch (error) {
    if (error instanceof Refused) return [`refused: ${error.code}`];
    throw error;
  }
}

const runs = ['session.status_running', 'session.thread_status_running'];
const idles = (stop: string) => [`session.thread_status_idle ${stop}`, 'session.usage', `session.status_idle ${stop}`];

/** Custom results and confirmations need a call: a session without one answers that none is open. */
const noCall = (operation: Operation) => (story: Story) =>
  operations[operation](Object.assign(story, { call: () => 'sevt_none' }));

const table: [Operation, Status, string[]][] = [
  ['user.message', 'idle', ['user.message more queued', ...runs]],
  ['user.message', 'requires_action, custom', ['refused: action_required']],
  ['user.message', 'requires_action, ask', ['refused: action_required']],
  ['user.message', 'budget_reached', ['refused: budget_reached']],
  ['user.message', 'running', ['user.message more queued']],
  ['user.message', 'rescheduling', ['user.message more queued']],
  ['user.message', 'terminated', ['refused: session_terminated']],

  ['system.message', 'idle', ['system.message rule queued']],
  ['system.message', 'requires_action, custom', ['refused: action_required']],
  ['system.message', 'requires_action, ask', ['refused: action_required']],
  ['system.message', 'budget_reached', ['refused: budget_reached']],
  ['system.message', 'running', ['system.message rule queued']],
  ['system.message', 'rescheduling', ['system.message rule queued']],
  ['system.message', 'terminated', ['refused: session_terminated']],
  [
    'result and system.message',
    'requires_action, custom',
    ['user.custom_tool_result c1', 'system.message rule queued', ...runs],
  ],
  [
    'result and system.message',
    'running, custom call open',
    ['user.custom_tool_result c1', 'system.message rule queued'],
  ],

  ['confirmation', 'requires_action, ask', ['user.tool_confirmation c1 allow', ...runs]],
  ['confirmation', 'requires_action, custom', ['refused: confirmation_not_asked']],
  ['confirmation', 'running, asked', ['user.tool_confirmation c1 allow']],
  ['confirmation', 'running, custom call open', ['refused: confirmation_not_asked']],
  ['custom result', 'requires_action, custom', ['user.custom_tool_result c1', ...runs]],
  ['custom result', 'requires_action, ask', ['refused: tool_call_not_open']],
  ['custom result', 'running, custom call open', ['user.custom_tool_result c1']],

  ['user.interrupt', 'idle', ['user.interrupt placed']],
  [
    'user.interrupt',
    'requires_action, custom',
    ['user.interrupt placed', 'user.custom_tool_result c1 interrupted', ...idles('end_turn')],
  ],
  [
    'user.interrupt',
    'requires_action, ask',
    ['user.interrupt placed', 'agent.tool_result c1 interrupted', ...idles('end_turn')],
  ],
  ['user.interrupt', 'budget_reached', ['user.interrupt ignored']],
  ['user.interrupt', 'running', ['user.interrupt queued']],
  ['user.interrupt', 'rescheduling', ['user.interrupt queued']],
  ['user.interrupt', 'terminated', ['refused: session_terminated']],

  ...(['idle', 'requires_action, custom', 'budget_reached', 'running', 'rescheduling'] as const).map(
    (status): [Operation, Status, string[]] => ['update title', status, ['session.updated title']],
  ),
  ['update title', 'terminated', ['refused: session_terminated']],
  ['update agent', 'idle', ['session.updated agent']],
  ['update agent', 'requires_action, custom', ['session.updated agent']],
  ['update agent', 'budget_reached', ['session.updated agent']],
  ['update agent', 'running', ['refused: session_running']],
  ['update agent', 'rescheduling', ['refused: session_running']],
  ['update agent', 'terminated', ['refused: session_terminated']],
  ['update budget', 'idle', ['refused: budget_create_only']],
  ['update budget', 'budget_reached', ['session.updated budget', ...idles('end_turn')]],
  ['update budget', 'terminated', ['refused: session_terminated']],
  ['remove budget', 'idle', []],
  ['remove budget', 'budget_reached', ['session.updated budget', ...idles('end_turn')]],

  ...(['idle', 'requires_action, custom', 'budget_reached'] as const).map((status): [Operation, Status, string[]] => [
    'archive',
    status,
    ['session.thread_status_terminated', 'session.status_terminated archived'],
  ]),
  ['archive', 'running', ['refused: session_running']],
  ['archive', 'rescheduling', ['refused: session_running']],
  ['archive', 'terminated', []],
  ...(['idle', 'requires_action, custom', 'budget_reached', 'terminated'] as const).map(
    (status): [Operation, Status, string[]] => ['delete', status, ['session.deleted']],
  ),
  ['delete', 'running', ['refused: session_running']],
  ['delete', 'rescheduling', ['refused: session_running']],
];

describe('what each status allows', () => {
  it.each(table)('%s while %s', (operation, status, expected) => {
    expect(outcomeOf(status, operation)).toEqual(expected);
  });

  const withoutCall: Status[] = ['idle', 'budget_reached', 'running', 'rescheduling'];
  it.each(withoutCall)('refuses an answer that nothing waits for while %s', (status) => {
    for (const operation of ['confirmation', 'custom result'] as const) {
      expect(() => noCall(operation)(statuses[status]())).toThrow('tool_call_not_open');
    }
  });

  it('refuses a second answer, and a confirmation after a confirmation', () => {
    const custom = statuses['running, custom call open']();
    const answer = customResult(custom.call('c1'));
    expect(() => custom.sends(answer).sends(answer)).toThrow('tool_call_not_open');
    const asked = statuses['running, asked']();
    expect(() => asked.sends(deny(asked.call('c1'))).sends(allow(asked.call('c1')))).toThrow('tool_call_not_open');
  });

  it('refuses a confirmation of a call that was allowed, or that names no tool of the agent', () => {
    const story = new Story().sends(message('hi')).claims();
    story.responds([textBlock('so'), use('c1', 'bash'), use('c2', 'dance'), use('c3', 'ask_human')]);
    expect(() => story.sends(allow(story.call('c1')))).toThrow('confirmation_not_asked');
    expect(() => story.sends(allow(story.call('c2')))).toThrow('tool_call_not_open');
  });

  it('refuses a whole request for one bad event, and writes nothing', () => {
    const story = statuses.idle();
    const before = story.state;
    expect(() => story.sends(message('fine'), customResult(story.newId()))).toThrow('tool_call_not_open');
    expect(story.state).toBe(before);
  });
});
