/** The table of contract 2.4: which operation each state of a session allows. */
import { describe, expect, it } from 'vitest';
import { hangingTurn, message, type Conversation, type EventParams } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';

const cents = (amount: string) => ({ type: 'limit' as const, max_list_cost: { amount, currency: 'USD' as const } });
const costly = { usage: { input_tokens: 10, output_tokens: 400_000 } };

const states = ['idle', 'requires_action', 'budget_reached', 'running', 'rescheduling', 'archived'] as const;
type State = (typeof states)[number];

describe('what each state of a session allows', () => {
  const platform = usePlatform({ env: { MANYHANDS_MODEL_SILENCE_MS: '60000' } });
  const sessions = () => platform.client.beta.sessions;

  async function sessionIn(state: State): Promise<Conversation> {
    if (state === 'requires_action') {
      const asking = await platform.sessionWithCustomTools(['lookup']);
      await asking.play([[{ tool: 'lookup', input: {} }]]);
      return asking;
    }
    const budget = state === 'budget_reached' ? { budget: cents('1') } : {};
    const conversation = await platform.session({ ...budget, title: 'A title' });
    switch (state) {
      case 'idle':
        break;
      case 'budget_reached':
        await conversation.play([{ blocks: [{ text: 'Expensive.' }], ...costly }]);
        break;
      case 'running':
        await conversation.start([hangingTurn('Late.')]);
        await conversation.stream.findType('span.model_request_start');
        break;
      case 'rescheduling': {
        const fault = { kind: 'status' as const, status: 529, retryAfterMs: 600_000 };
        await conversation.start([{ blocks: [{ text: 'Late.' }], faults: [fault] }]);
        await conversation.stream.findType('session.status_rescheduled');
        break;
      }
      case 'archived':
        await sessions().archive(conversation.id);
    }
    return conversation;
  }

  /** Leaves nothing running behind. */
  async function calm(conversation: Conversation): Promise<void> {
    if (['running', 'rescheduling'].includes((await conversation.session()).status)) {
      await conversation.untilIdle(() => conversation.send({ type: 'user.interrupt' }));
    }
  }

  const send =
    (...events: EventParams[]) =>
    (conversation: Conversation): Promise<unknown> =>
      conversation.send(...events);

  const operations: Record<string, (conversation: Conversation) => Promise<unknown>> = {
    'a message': send(message('Hello.')),
    'a result that nobody waits for': send({ type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_01x' }),
    'a confirmation that nobody waits for': send({
      type: 'user.tool_confirmation',
      tool_use_id: 'sevt_01x',
      result: 'allow',
    }),
    'an interrupt': send({ type: 'user.interrupt' }),
    'a new title': ({ id }) => sessions().update(id, { title: 'New' }),
    'another agent': ({ id }) => sessions().update(id, { agent: { tools: [] } }),
    'an archive': ({ id }) => sessions().archive(id),
    'a delete': ({ id }) => sessions().delete(id),
  };

  const allowed: Record<keyof typeof operations, readonly State[]> = {
    'a message': ['idle', 'running', 'rescheduling'],
    'a result that nobody waits for': [],
    'a confirmation that nobody waits for': [],
    'an interrupt': ['idle', 'requires_action', 'budget_reached', 'running', 'rescheduling'],
    'a new title': ['idle', 'requires_action', 'budget_reached', 'running', 'rescheduling'],
    'another agent': ['idle', 'requires_action', 'budget_reached'],
    'an archive': ['idle', 'requires_action', 'budget_reached', 'archived'],
    'a delete': ['idle', 'requires_action', 'budget_reached', 'archived'],
  };

  describe.each(states)('%s', (state) => {
    it.each(Object.keys(operations))('%s', async (name) => {
      const conversation = await sessionIn(state);
      const before = (await conversation.history()).length;
      const outcome = await operations[name]?.(conversation).then(
        () => 'allowed',
        (error: { status?: number }) => error.status,
      );
      expect(outcome).toBe(allowed[name]?.includes(state) ? 'allowed' : 400);
      if (outcome !== 'allowed') expect(await conversation.history()).toHaveLength(before);
      if (name === 'a delete' && outcome === 'allowed') return;
      // A message wakes an idle session, and what it started is waited for.
      if (state === 'idle' && name === 'a message') await conversation.stream.findType('session.status_idle');
      await calm(conversation);
    });
  });
});
