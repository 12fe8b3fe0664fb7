import { ConflictError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { message } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';

describe('a POST with an Idempotency-Key', () => {
  const platform = usePlatform();
  const beta = () => platform.client.beta;
  const newKey = () => ({ headers: { 'Idempotency-Key': crypto.randomUUID() } });
  const conflict = async (request: Promise<unknown>) => {
    const error = await request.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConflictError);
    expect((error as ConflictError).headers?.get('x-should-retry')).toBe('false');
  };

  it('creates one environment, one agent, one session, however often it is repeated', async () => {
    const name = `environment-${crypto.randomUUID()}`;
    const agentBody = { name: 'Once', model: 'claude-sonnet-5' };
    const environmentKey = newKey();
    const environment = await beta().environments.create({ name }, environmentKey);
    expect(await beta().environments.create({ name }, environmentKey)).toEqual(environment);
    const agentKey = newKey();
    const agent = await beta().agents.create(agentBody, agentKey);
    await beta().agents.update(agent.id, { description: 'Changed meanwhile.' });
    expect(await beta().agents.create(agentBody, agentKey)).toEqual(agent);
    const body = { agent: agent.id, environment_id: environment.id, initial_events: [message('Hello.')] as never };
    const sessionKey = newKey();
    const session = await beta().sessions.create(body, sessionKey);
    const conversation = await platform.follow(session.id);
    await conversation.stream.findType('session.status_idle');
    expect(await beta().sessions.create(body, sessionKey)).toEqual(session);
    expect((await beta().sessions.list({ agent_id: agent.id })).data).toHaveLength(1);
    expect(await conversation.ofType('user.message')).toHaveLength(1);

    await conflict(beta().environments.create({ name: `${name}-other` }, environmentKey));
    await conflict(beta().agents.create({ ...agentBody, name: 'Twice' }, agentKey));
    await conflict(beta().sessions.create({ ...body, title: 'Other' }, sessionKey));
  });

  it('sends events once', async () => {
    const conversation = await platform.session();
    const key = newKey();
    const send = (text: string) => beta().sessions.events.send(conversation.id, { events: [message(text)] }, key);
    const first = await send('Once.');
    await conversation.stream.findType('session.status_idle');
    const again = await send('Once.');
    expect(again.data?.map(({ id }) => id)).toEqual(first.data?.map(({ id }) => id));
    expect(await conversation.ofType('user.message')).toHaveLength(1);
    await conflict(send('Twice.'));
    // The same key on another session is another request.
    const other = await platform.session();
    const idle = await other.untilIdle(() =>
      beta().sessions.events.send(other.id, { events: [message('Once.')] }, key),
    );
    expect(idle.stop_reason.type).toBe('end_turn');
  });

  it('sends events once when the same request arrives many times at once', async () => {
    const conversation = await platform.session();
    const key = newKey();
    const send = () => beta().sessions.events.send(conversation.id, { events: [message('Once.')] }, key);
    const answers = await Promise.all(Array.from({ length: 10 }, send));
    expect(new Set(answers.map(({ data }) => data?.[0]?.id)).size).toBe(1);
    await conversation.stream.findType('session.status_idle');
    expect(await conversation.ofType('user.message')).toHaveLength(1);
  });

  it('updates once', async () => {
    const agent = await platform.agent();
    const key = newKey();
    const updated = await beta().agents.update(agent.id, { version: 1, description: 'New.' }, key);
    expect(await beta().agents.update(agent.id, { version: 1, description: 'New.' }, key)).toEqual(updated);
    await conflict(beta().agents.update(agent.id, { version: 1, description: 'Newer.' }, key));
    const conversation = await platform.session();
    const sessionKey = newKey();
    const patch = { metadata: { a: '1' } };
    await beta().sessions.update(conversation.id, patch, sessionKey);
    await beta().sessions.update(conversation.id, { metadata: { a: '2' } });
    await beta().sessions.update(conversation.id, patch, sessionKey);
    expect((await conversation.session()).metadata).toEqual({ a: '2' });
    const environment = await beta().environments.create({ name: `environment-${crypto.randomUUID()}` });
    const environmentKey = newKey();
    await beta().environments.update(environment.id, { description: 'a' }, environmentKey);
    await beta().environments.update(environment.id, { description: 'b' });
    await beta().environments.update(environment.id, { description: 'a' }, environmentKey);
    expect((await beta().environments.retrieve(environment.id)).description).toBe('b');
  });

  it('archives once', async () => {
    const conversation = await platform.session();
    const key = newKey();
    const archived = await beta().sessions.archive(conversation.id, {}, key);
    expect(await beta().sessions.archive(conversation.id, {}, key)).toEqual(archived);
  });

  it('is remembered over a restart', async () => {
    const conversation = await platform.session({ record: false });
    const key = newKey();
    const send = () => beta().sessions.events.send(conversation.id, { events: [message('Once.')] }, key);
    const first = await send();
    await platform.server.stop();
    await platform.server.start();
    expect((await send()).data?.[0]?.id).toBe(first.data?.[0]?.id);
    expect(await conversation.ofType('user.message')).toHaveLength(1);
  });

  it('is refused when the key is empty or too long', async () => {
    for (const key of ['', 'k'.repeat(256)]) {
      const request = platform.client.beta.agents.create(
        { name: 'x', model: 'claude-sonnet-5' },
        { headers: { 'Idempotency-Key': key } },
      );
      await expect(request).rejects.toMatchObject({ status: 400 });
    }
  });
});
