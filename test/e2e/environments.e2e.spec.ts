import { BadRequestError, ConflictError, NotFoundError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { clockTick } from '../support/conditions.ts';
import { usePlatform } from '../support/platform.ts';

describe('environments, by the official client', () => {
  const platform = usePlatform();
  const environments = () => platform.client.beta.environments;
  const newName = () => `environment-${crypto.randomUUID()}`;

  it('are created with a resolved configuration and read back the same', async () => {
    const name = newName();
    const created = await environments().create({ name, description: 'For tests.', metadata: { team: 'a' } });
    expect(created).toMatchObject({
      type: 'environment',
      name,
      description: 'For tests.',
      metadata: { team: 'a' },
      config: { type: 'cloud', networking: { type: 'unrestricted' }, packages: { apt: [], npm: [], pip: [] } },
      archived_at: null,
    });
    expect(created.id).toMatch(/^env_01[0-9A-Za-z]{22}$/);
    expect(await environments().retrieve(created.id)).toEqual(created);
  });

  it('keep what an update leaves out, and patch metadata key by key', async () => {
    const config = { type: 'cloud' as const, networking: { type: 'limited' as const, allowed_hosts: ['example.com'] } };
    const created = await environments().create({ name: newName(), config, metadata: { a: '1', b: '2' } });
    const updated = await environments().update(created.id, {
      description: 'Later.',
      metadata: { a: null as unknown as string, b: '', c: '3' },
    });
    expect(updated).toMatchObject({ name: created.name, description: 'Later.', metadata: { c: '3' } });
    expect(updated.config).toEqual(created.config);
    expect(await environments().retrieve(created.id)).toEqual(updated);
  });

  it('cannot share a name, and a conflict is not worth a retry', async () => {
    const name = newName();
    await environments().create({ name });
    const refused = await environments()
      .create({ name })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConflictError);
    expect(refused).toMatchObject({ status: 409, type: 'conflict_error' });
    expect((refused as ConflictError).headers?.get('x-should-retry')).toBe('false');
  });

  it('are archived once and for all, with the typed error for what comes after', async () => {
    const { id } = await environments().create({ name: newName() });
    const archived = await environments().archive(id);
    expect(archived.archived_at).not.toBeNull();
    expect(await environments().archive(id)).toEqual(archived);
    await expect(environments().update(id, { description: 'x' })).rejects.toMatchObject({
      status: 400,
      errorCode: 'environment_archived',
    });
    const agent = await platform.agent();
    const session = platform.client.beta.sessions.create({ agent: agent.id, environment_id: id });
    await expect(session).rejects.toBeInstanceOf(BadRequestError);
    const listed = async (includeArchived: boolean) => {
      const ids: string[] = [];
      for await (const one of environments().list({ include_archived: includeArchived })) ids.push(one.id);
      return ids;
    };
    expect(await listed(false)).not.toContain(id);
    expect(await listed(true)).toContain(id);
  });

  it('are deleted, and their sessions go on', async () => {
    const { id } = await environments().create({ name: newName() });
    const conversation = await platform.session({ environment_id: id });
    expect(await environments().delete(id)).toEqual({ type: 'environment_deleted', id });
    await expect(environments().retrieve(id)).rejects.toMatchObject({
      status: 404,
      errorCode: 'environment_not_found',
    });
    await expect(environments().delete(id)).rejects.toBeInstanceOf(NotFoundError);
    const idle = await conversation.play([[{ tool: 'bash', input: { command: 'echo here' } }], [{ text: 'Done.' }]]);
    expect(idle.stop_reason.type).toBe('end_turn');
    const agent = await platform.agent();
    await expect(platform.client.beta.sessions.create({ agent: agent.id, environment_id: id })).rejects.toBeInstanceOf(
      NotFoundError,
    );
  });

  it('refuse a change of kind and what this version does not have', async () => {
    const { id } = await environments().create({ name: newName() });
    await expect(environments().update(id, { config: { type: 'self_hosted' } })).rejects.toMatchObject({ status: 400 });
    await expect(environments().create({ name: newName(), config: { type: 'self_hosted' } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/self.hosted/i) as string,
    });
    await expect(
      environments().create({ name: newName(), config: { type: 'cloud', packages: { pip: ['numpy'] } } }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('packages') as string });
  });

  it('are listed page by page, newest first', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      ids.push((await environments().create({ name: newName() })).id);
      await clockTick();
    }
    const listed: string[] = [];
    for await (const one of environments().list({ limit: 2 })) listed.push(one.id);
    expect(listed.slice(0, 5)).toEqual(ids.reverse());
    expect(new Set(listed).size).toBe(listed.length);
  });
});
