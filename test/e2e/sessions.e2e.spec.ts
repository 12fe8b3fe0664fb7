import { BadRequestError, NotFoundError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { message } from '../support/conversation.ts';
import { builtinTools, modelId, usePlatform } from '../support/platform.ts';
import { StreamRecorder } from '../support/stream-recorder.ts';

describe('sessions, by the official client', () => {
  const platform = usePlatform();
  const sessions = () => platform.client.beta.sessions;
  const quietTurn = [[{ text: 'Well.' }]];

  it('are created idle, with a snapshot of the agent', async () => {
    const agent = await platform.agent({ system: 'Be brief.' });
    const environmentId = await platform.environmentId();
    const session = await sessions().create({
      agent: agent.id,
      environment_id: environmentId,
      title: 'A title',
      metadata: { ticket: '17' },
    });
    expect(session).toMatchObject({
      type: 'session',
      status: 'idle',
      title: 'A title',
      metadata: { ticket: '17' },
      environment_id: environmentId,
      agent: { type: 'agent', id: agent.id, version: 1, system: 'Be brief.', tools: agent.tools, model: agent.model },
      resources: [],
      vault_ids: [],
      budget: null,
      outcome_evaluations: [],
      archived_at: null,
    });
    expect(session.id).toMatch(/^sesn_01[0-9A-Za-z]{22}$/);
    expect(await sessions().retrieve(session.id)).toMatchObject({ id: session.id, status: 'idle', title: 'A title' });
  });

  it('take the latest version of an agent, or the one that is named', async () => {
    const agent = await platform.agent({ system: 'One.' });
    await platform.client.beta.agents.update(agent.id, { system: 'Two.' });
    const latest = await platform.session({ agent: agent.id });
    const pinned = await platform.session({ agent: { type: 'agent', id: agent.id, version: 1 } });
    expect((await latest.session()).agent).toMatchObject({ version: 2, system: 'Two.' });
    expect((await pinned.session()).agent).toMatchObject({ version: 1, system: 'One.' });
    await pinned.play(quietTurn, 'pinned');
    expect(JSON.stringify(platform.model.requests.bodies('pinned').at(-1)?.system)).toContain('One.');
  });

  it('override parts of an agent, and the agent stays as it is', async () => {
    const agent = await platform.agent({ system: 'Base.' });
    const conversation = await platform.session({
      agent: { type: 'agent_with_overrides', id: agent.id, system: null, tools: [], model: 'claude-haiku-4-5' },
    });
    const { agent: snapshot } = await conversation.session();
    expect(snapshot).toMatchObject({
      id: agent.id,
      version: 1,
      system: null,
      tools: [],
      model: { id: 'claude-haiku-4-5' },
    });
    await conversation.play(quietTurn, 'overridden');
    const [request] = platform.model.requests.bodies('overridden');
    expect(request).toMatchObject({ model: 'claude-haiku-4-5' });
    expect(request?.tools ?? []).toEqual([]);
    expect(await platform.client.beta.agents.retrieve(agent.id)).toEqual(agent);
    await expect(
      platform.session({ agent: { type: 'agent_with_overrides', id: agent.id, model: null as unknown as string } }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('model') as string });
  });

  it('start running when they are created with messages, all or nothing', async () => {
    const agent = await platform.agent();
    const base = { agent: agent.id, environment_id: await platform.environmentId() };
    const created = await sessions().create({ ...base, initial_events: [message('One.'), message('Two.')] as never });
    expect(created.status).toBe('running');
    const conversation = await platform.follow(created.id);
    await conversation.stream.findType('session.status_idle');
    const history = await conversation.history();
    expect(history.slice(0, 4).map(({ type }) => type)).toEqual([
      'session.status_running',
      'session.thread_status_running',
      'user.message',
      'user.message',
    ]);
    const before = (await sessions().list({ agent_id: agent.id })).data.length;
    const broken = { type: 'user.message', content: [] };
    await expect(
      sessions().create({ ...base, initial_events: [message('One.'), broken] as never }),
    ).rejects.toBeInstanceOf(BadRequestError);
    expect((await sessions().list({ agent_id: agent.id })).data).toHaveLength(before);
  });

  it('are updated, and say what changed on the stream', async () => {
    const conversation = await platform.session({ title: 'Old', metadata: { a: '1', b: '2' } });
    const updated = await sessions().update(conversation.id, {
      title: 'New',
      metadata: { a: null as unknown as string, c: '3' },
    });
    expect(updated).toMatchObject({ title: 'New', metadata: { b: '2', c: '3' } });
    const event = await conversation.stream.findType('session.updated');
    expect(event).toMatchObject({ title: 'New', metadata: { b: '2', c: '3' } });
    expect(event).not.toHaveProperty('agent');
    await sessions().update(conversation.id, { title: 'New' });
    expect(await conversation.ofType('session.updated')).toHaveLength(1);
    await expect(sessions().update(conversation.id, { vault_ids: [] })).rejects.toBeInstanceOf(BadRequestError);
  });

  it('take another set of tools, for themselves and from the next turn on', async () => {
    const agent = await platform.agent({ tools: [] });
    const conversation = await platform.session({ agent: agent.id });
    await conversation.play(quietTurn, 'before-tools');
    await sessions().update(conversation.id, { agent: { tools: builtinTools } });
    await conversation.play(quietTurn, 'after-tools');
    expect(platform.model.requests.bodies('before-tools')[0]?.tools ?? []).toEqual([]);
    expect(platform.model.requests.bodies('after-tools')[0]?.tools?.map(({ name }) => name)).toContain('bash');
    expect((await platform.client.beta.agents.retrieve(agent.id)).tools).toEqual([]);
  });

  it('are archived: readable, over, and hidden from lists', async () => {
    const conversation = await platform.session();
    await conversation.play(quietTurn);
    const archived = await sessions().archive(conversation.id);
    expect(archived).toMatchObject({ status: 'terminated' });
    expect(archived.archived_at).not.toBeNull();
    expect(await sessions().archive(conversation.id)).toEqual(archived);
    await conversation.stream.findType('session.status_terminated');
    expect(await conversation.stream.ended).toBeUndefined();
    await expect(conversation.say('More.')).rejects.toBeInstanceOf(BadRequestError);
    await expect(sessions().update(conversation.id, { title: 'x' })).rejects.toBeInstanceOf(BadRequestError);
    expect(await conversation.answers()).toEqual(['Well.']);
    const ids = async (params: object) => (await sessions().list(params)).data.map(({ id }) => id);
    expect(await ids({})).not.toContain(conversation.id);
    expect(await ids({ include_archived: true })).toContain(conversation.id);
  });

  it('are deleted, and their streams end with the news', async () => {
    const conversation = await platform.session();
    await conversation.play(quietTurn);
    const second = await StreamRecorder.open(platform.client, conversation.id);
    expect(await sessions().delete(conversation.id)).toEqual({ type: 'session_deleted', id: conversation.id });
    for (const stream of [conversation.stream, second]) {
      expect(await stream.ended).toBeUndefined();
      expect(stream.events.at(-1)?.type).toBe('session.deleted');
    }
    await expect(conversation.session()).rejects.toBeInstanceOf(NotFoundError);
    await expect(conversation.history()).rejects.toBeInstanceOf(NotFoundError);
    await expect(conversation.say('More.')).rejects.toBeInstanceOf(NotFoundError);
    await expect(sessions().events.stream(conversation.id)).rejects.toBeInstanceOf(NotFoundError);
    await expect(sessions().delete(conversation.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it('run on the model they were made with', async () => {
    const conversation = await platform.session();
    await conversation.play(quietTurn, 'model-of-agent');
    expect(platform.model.requests.bodies('model-of-agent')[0]?.model).toBe(modelId);
  });
});
