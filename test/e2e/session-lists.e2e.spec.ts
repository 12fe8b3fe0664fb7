import type Anthropic from '@anthropic-ai/sdk';
import { BadRequestError } from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { clockTick } from '../support/conditions.ts';
import { hangingTurn } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';

type Session = Anthropic.Beta.Sessions.BetaManagedAgentsSession;

describe('the list of sessions, by the official client', () => {
  const platform = usePlatform();
  const sessions = () => platform.client.beta.sessions;
  let agentId: string;
  /** Oldest first. */
  const made: Session[] = [];
  beforeAll(async () => {
    agentId = (await platform.agent()).id;
    const base = { agent: agentId, environment_id: await platform.environmentId() };
    for (let n = 0; n < 7; n++) {
      made.push(await sessions().create({ ...base, title: `Session ${n}` }));
      await clockTick();
    }
  });
  const titles = (page: { data: Session[] }) => page.data.map(({ title }) => title);
  const title = (n: number) => `Session ${n}`;

  it('is walked by the iterator, newest first or oldest first', async () => {
    const walk = async (order: 'asc' | 'desc') => {
      const seen: (string | null)[] = [];
      for await (const session of sessions().list({ agent_id: agentId, limit: 3, order })) seen.push(session.title);
      return seen;
    };
    const ascending = made.map((session) => session.title);
    expect(await walk('asc')).toEqual(ascending);
    expect(await walk('desc')).toEqual(ascending.reverse());
  });

  it('is paged forwards and back again', async () => {
    const list = (page?: string | null) =>
      sessions().list({ agent_id: agentId, limit: 3, order: 'asc', ...(page && { page }) });
    const first = await list();
    expect(titles(first)).toEqual([0, 1, 2].map(title));
    expect(first.prev_page).toBeNull();
    const second = await list(first.next_page);
    expect(titles(second)).toEqual([3, 4, 5].map(title));
    const third = await list(second.next_page);
    expect(titles(third)).toEqual([6].map(title));
    expect(third.next_page).toBeNull();
    const secondAgain = await list(third.prev_page);
    expect(titles(secondAgain)).toEqual([3, 4, 5].map(title));
    const firstAgain = await list(secondAgain.prev_page);
    expect(titles(firstAgain)).toEqual([0, 1, 2].map(title));
    expect(firstAgain.prev_page).toBeNull();
    expect(titles(await list(firstAgain.next_page))).toEqual([3, 4, 5].map(title));
  });

  it('keeps its place while sessions are added', async () => {
    const agent = await platform.agent();
    const base = { agent: agent.id, environment_id: await platform.environmentId() };
    for (const name of ['a', 'b', 'c', 'd']) {
      await sessions().create({ ...base, title: name });
      await clockTick();
    }
    const first = await sessions().list({ agent_id: agent.id, limit: 2 });
    expect(titles(first)).toEqual(['d', 'c']);
    await sessions().create({ ...base, title: 'e' });
    const second = await sessions().list({ agent_id: agent.id, limit: 2, page: first.next_page as string });
    expect(titles(second)).toEqual(['b', 'a']);
  });

  it('is filtered by agent, version, status and time', async () => {
    const agent = await platform.agent();
    await platform.client.beta.agents.update(agent.id, { description: 'Newer.' });
    const base = { environment_id: await platform.environmentId() };
    const old = await sessions().create({ ...base, agent: { type: 'agent', id: agent.id, version: 1 } });
    await clockTick();
    const running = await platform.session({ agent: agent.id });
    await running.start([hangingTurn('Slow.')]);
    const ids = async (params: Anthropic.Beta.Sessions.SessionListParams) =>
      (await sessions().list({ agent_id: agent.id, ...params })).data.map(({ id }) => id);
    expect(await ids({})).toEqual([running.id, old.id]);
    expect(await ids({ agent_version: 1 })).toEqual([old.id]);
    expect(await ids({ agent_version: 2 })).toEqual([running.id]);
    expect(await ids({ statuses: ['running'] })).toEqual([running.id]);
    expect(await ids({ statuses: ['idle', 'terminated'] })).toEqual([old.id]);
    expect(await ids({ statuses: ['idle', 'running'] })).toEqual([running.id, old.id]);
    expect(await ids({ 'created_at[gt]': old.created_at })).toEqual([running.id]);
    expect(await ids({ 'created_at[lte]': old.created_at })).toEqual([old.id]);
    await running.untilIdle(() => running.send({ type: 'user.interrupt' }));
    expect(await ids({ statuses: ['running'] })).toEqual([]);
  });

  it('refuses a cursor of another order, of another list, or one that its filter excludes', async () => {
    const { next_page: page } = await sessions().list({ agent_id: agentId, limit: 3, order: 'asc' });
    const cursor = { page: page as string };
    const [first, , , , , , last] = made as [Session, ...Session[]] & { 6: Session };
    await expect(sessions().list({ ...cursor, order: 'desc' })).rejects.toBeInstanceOf(BadRequestError);
    await expect(sessions().list({ page: 'nonsense' })).rejects.toBeInstanceOf(BadRequestError);
    await expect(platform.client.beta.agents.list(cursor)).rejects.toBeInstanceOf(BadRequestError);
    await expect(
      sessions().list({ ...cursor, order: 'asc', 'created_at[gt]': last.created_at }),
    ).rejects.toBeInstanceOf(BadRequestError);
    const allowed = await sessions().list({ ...cursor, order: 'asc', 'created_at[gte]': first.created_at, limit: 50 });
    expect(titles(allowed).slice(0, 4)).toEqual([3, 4, 5, 6].map(title));
  });

  it('bounds a page', async () => {
    await expect(sessions().list({ limit: 101 })).rejects.toBeInstanceOf(BadRequestError);
    await expect(sessions().list({ limit: 0 })).rejects.toBeInstanceOf(BadRequestError);
  });
});
