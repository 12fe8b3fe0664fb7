import { describe, expect, it } from 'vitest';
import { message } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';

const cents = (amount: string) => ({ type: 'limit' as const, max_list_cost: { amount, currency: 'USD' as const } });
/** Some dollars on any model with a price. */
const costly = { usage: { input_tokens: 10, output_tokens: 400_000 } };

describe('budgets', () => {
  const platform = usePlatform();
  const sessions = () => platform.client.beta.sessions;

  it('stop a turn before the next model request, and go on when raised', async () => {
    const conversation = await platform.session({ budget: cents('1') });
    const turns = [{ blocks: [{ tool: 'bash', input: { command: 'echo x' } }], ...costly }, [{ text: 'Done.' }]];
    const stopped = await conversation.play(turns);
    expect(stopped.stop_reason.type).toBe('budget_reached');
    // The request that crosses finishes, and its calls do too; only the next one is not made.
    expect(await conversation.ofType('agent.tool_result')).toHaveLength(1);
    expect(await conversation.answers()).toEqual([]);
    const usage = (await conversation.ofType('session.usage')).at(-1);
    expect(usage?.budget).toEqual(cents('1'));
    expect(Number(usage?.usage.list_cost?.amount)).toBeGreaterThan(1);

    const end = await conversation.untilIdle(() => sessions().update(conversation.id, { budget: cents('100000') }));
    expect(end.stop_reason.type).toBe('end_turn');
    expect(await conversation.answers()).toEqual(['Done.']);
    expect(await conversation.ofType('session.updated')).toMatchObject([{ budget: cents('100000') }]);
  });

  it('let a finished turn end as it ended, and the session say why it will not go on', async () => {
    const conversation = await platform.session({ budget: cents('1') });
    const idle = await conversation.play([{ blocks: [{ text: 'Expensive.' }], ...costly }]);
    expect(idle.stop_reason.type).toBe('budget_reached');
    const [thread] = await conversation.ofType('session.thread_status_idle');
    expect(thread?.stop_reason.type).toBe('end_turn');
    const removed = await conversation.untilIdle(() => sessions().update(conversation.id, { budget: null }));
    expect(removed.stop_reason.type).toBe('end_turn');
    expect((await conversation.session()).budget).toBeNull();
    expect((await conversation.play([[{ text: 'Free.' }]])).stop_reason.type).toBe('end_turn');
  });

  it('refuse new work at the cap, and take answers and interrupts', async () => {
    const conversation = await platform.sessionWithCustomTools(['lookup'], { budget: cents('1') });
    const idle = await conversation.play([{ blocks: [{ tool: 'lookup', input: {} }], ...costly }, [{ text: 'Done.' }]]);
    expect(['budget_reached', 'requires_action']).toContain(idle.stop_reason.type);
    const [call] = await conversation.ofType('agent.custom_tool_use');
    const answer = { type: 'user.custom_tool_result' as const, custom_tool_use_id: call?.id as string };
    const capped = await conversation.untilIdle(() => conversation.send(answer));
    expect(capped.stop_reason.type).toBe('budget_reached');
    await expect(conversation.send(message('More.'))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('user.interrupt') as string,
    });
    const before = await conversation.history();
    await conversation.send({ type: 'user.interrupt' });
    expect(await conversation.history()).toEqual(before);
    await conversation.untilIdle(() => sessions().update(conversation.id, { budget: cents('100000') }));
    expect(await conversation.answers()).toEqual(['Done.']);
  });

  it('can only be given at creation, only be raised, and only for models with a price', async () => {
    const without = await platform.session();
    await expect(sessions().update(without.id, { budget: cents('5') })).rejects.toMatchObject({ status: 400 });
    const spent = await platform.session({ budget: cents('1') });
    await spent.play([{ blocks: [{ text: 'Expensive.' }], ...costly }]);
    await expect(sessions().update(spent.id, { budget: cents('1') })).resolves.toMatchObject({ budget: cents('1') });
    await expect(sessions().update(spent.id, { budget: cents('2') })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("must be greater than the session's consumed list cost") as string,
    });
    const unpriced = await platform.agent({ model: 'some-model-of-another-house' });
    await expect(platform.session({ agent: unpriced.id, budget: cents('5') })).rejects.toMatchObject({ status: 400 });
    for (const amount of ['0', '01', '1.5', '-1', '']) {
      await expect(platform.session({ budget: cents(amount) })).rejects.toMatchObject({ status: 400 });
    }
  });
});
