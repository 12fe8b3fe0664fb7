import { BadRequestError, ConflictError, NotFoundError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { clockTick } from '../support/conditions.ts';
import { modelId, usePlatform } from '../support/platform.ts';

describe('agents, by the official client', () => {
  const platform = usePlatform();
  const agents = () => platform.client.beta.agents;

  it('come back with everything resolved', async () => {
    const agent = await agents().create({
      name: 'Helper',
      model: modelId,
      system: 'Be brief.',
      tools: [
        { type: 'agent_toolset_20260401', configs: [{ name: 'bash', permission_policy: { type: 'always_ask' } }] },
      ],
      metadata: { team: 'a' },
    });
    expect(agent).toMatchObject({
      type: 'agent',
      version: 1,
      name: 'Helper',
      description: null,
      system: 'Be brief.',
      model: { id: modelId, speed: 'standard' },
      mcp_servers: [],
      skills: [],
      multiagent: null,
      metadata: { team: 'a' },
      archived_at: null,
    });
    expect(agent.model.effort).toMatchObject({ type: expect.any(String) as string });
    const [toolset] = agent.tools;
    if (toolset?.type !== 'agent_toolset_20260401') throw new Error('the toolset is missing');
    expect(toolset.default_config).toEqual({ enabled: true, permission_policy: { type: 'always_allow' } });
    const bash = toolset.configs.find((config) => config.name === 'bash');
    expect(bash).toMatchObject({ type: 'bash', enabled: true, permission_policy: { type: 'always_ask' } });
    expect(await agents().retrieve(agent.id)).toEqual(agent);
  });

  it('get a version for each update that changes something, and keep every version', async () => {
    const first = await platform.agent({ system: 'One.' });
    const second = await agents().update(first.id, { system: 'Two.', metadata: { a: '1' } });
    expect(second).toMatchObject({ version: 2, system: 'Two.', name: first.name, metadata: { a: '1' } });
    expect(await agents().update(first.id, { system: 'Two.' })).toEqual(second);
    const third = await agents().update(first.id, { version: 2, description: 'Three.', system: null });
    expect(third).toMatchObject({ version: 3, system: null, description: 'Three.' });

    const versions: number[] = [];
    for await (const { version } of agents().versions.list(first.id, { limit: 1 })) versions.push(version);
    expect(versions).toEqual([3, 2, 1]);
    expect(await agents().retrieve(first.id, { version: 1 })).toEqual(first);
    await expect(agents().retrieve(first.id, { version: 9 })).rejects.toBeInstanceOf(NotFoundError);
  });

  it('refuse an update of another version, even one that would change nothing', async () => {
    const agent = await platform.agent();
    await agents().update(agent.id, { description: 'Newer.' });
    const stale = await agents()
      .update(agent.id, { version: 1, description: 'Newer.' })
      .catch((error: unknown) => error);
    expect(stale).toBeInstanceOf(ConflictError);
    expect((stale as ConflictError).headers?.get('x-should-retry')).toBe('false');
  });

  it('are not asked again by a client that retries, when the answer is a conflict', async () => {
    const agent = await platform.agent();
    await agents().update(agent.id, { description: 'Newer.' });
    let requests = 0;
    const counting = platform.server.client({ maxRetries: 2 }).withOptions({
      fetch: (...args) => {
        requests += 1;
        return fetch(...args);
      },
    });
    await expect(counting.beta.agents.update(agent.id, { version: 1, name: 'x' })).rejects.toBeInstanceOf(
      ConflictError,
    );
    expect(requests).toBe(1);
  });

  it('are archived once and for all, while their sessions go on', async () => {
    const agent = await platform.agent();
    const conversation = await platform.session({ agent: agent.id });
    const archived = await agents().archive(agent.id);
    expect(archived.archived_at).not.toBeNull();
    expect(await agents().archive(agent.id)).toEqual(archived);
    await expect(agents().update(agent.id, { name: 'x' })).rejects.toBeInstanceOf(BadRequestError);
    await expect(platform.session({ agent: agent.id })).rejects.toBeInstanceOf(BadRequestError);
    expect((await conversation.play([[{ text: 'Still here.' }]])).stop_reason.type).toBe('end_turn');
    expect(await conversation.answers()).toEqual(['Still here.']);
  });

  it('are listed page by page, newest first, without the archived unless asked', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      ids.push((await platform.agent()).id);
      await clockTick();
    }
    const [oldest, , hidden] = ids as [string, string, string];
    await agents().archive(hidden);
    const listed = async (params: { include_archived?: boolean }) => {
      const found: string[] = [];
      for await (const { id } of agents().list({ limit: 2, ...params })) found.push(id);
      return found;
    };
    expect((await listed({})).slice(0, 4)).toEqual(ids.filter((id) => id !== hidden).reverse());
    expect(await listed({ include_archived: true })).toEqual(expect.arrayContaining([hidden, oldest]));
  });

  it('are filtered by their time of creation', async () => {
    const older = await platform.agent();
    await clockTick();
    const newer = await platform.agent();
    const page = await agents().list({ 'created_at[gte]': newer.created_at });
    expect(page.data.map(({ id }) => id)).toContain(newer.id);
    const before = await agents().list({ 'created_at[lte]': older.created_at });
    expect(before.data.map(({ id }) => id)).toContain(older.id);
  });

  it('refuse tools that contradict each other and parts that this version does not have', async () => {
    const custom = { type: 'custom' as const, description: 'x', input_schema: { type: 'object' as const } };
    const refused = [
      { tools: [{ ...custom, name: 'bash' }] },
      {
        tools: [
          { ...custom, name: 'one' },
          { ...custom, name: 'one' },
        ],
      },
      { tools: [{ ...custom, name: 'mcp__one' }] },
      { tools: [{ type: 'mcp_toolset' as const, mcp_server_name: 'nowhere' }] },
      { skills: [{ type: 'anthropic' as const, skill_id: 'pptx' }] },
      {
        tools: [{ type: 'agent_toolset_20260401' as const, configs: [{ name: 'web_search' as const, enabled: true }] }],
      },
    ];
    for (const params of refused) await expect(platform.agent(params)).rejects.toBeInstanceOf(BadRequestError);
  });
});
