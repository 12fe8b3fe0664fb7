import { describe, expect, it } from 'vitest';

import { parseRequest } from './parse-request.ts';
import { createSessionBodySchema, updateSessionBodySchema } from './sessions.ts';

const session = { agent: 'agent_1', environment_id: 'env_1' };
const budget = (amount: unknown, currency = 'USD') => ({ type: 'limit', max_list_cost: { amount, currency } });
const cents = 'must be a string of whole cents above 0, without leading zeros or decimals';

describe('creating a session', () => {
  it.each([
    ['nothing', {}, 'agent: Field required; environment_id: Field required'],
    [
      'an unknown reference',
      { ...session, agent: { type: 'x' } },
      "agent.type: must be 'agent' or 'agent_with_overrides'",
    ],
    [
      'version 0',
      { ...session, agent: { type: 'agent', id: 'agent_1', version: 0 } },
      'agent.version: must be at least 1',
    ],
    [
      'overrides on a reference',
      { ...session, agent: { type: 'agent', id: 'agent_1', tools: [] } },
      'agent.tools: Extra inputs are not permitted',
    ],
    [
      'a bad tool in overrides',
      { ...session, agent: { type: 'agent_with_overrides', id: 'agent_1', tools: [{ type: 'x' }] } },
      "agent.tools.0.type: must be 'agent_toolset_20260401', 'mcp_toolset' or 'custom'",
    ],
    ['a budget as a number', { ...session, budget: budget(2500) }, 'budget.max_list_cost.amount: must be a string'],
    ['a budget with decimals', { ...session, budget: budget('25.00') }, `budget.max_list_cost.amount: ${cents}`],
    ['a budget with leading zeros', { ...session, budget: budget('0100') }, `budget.max_list_cost.amount: ${cents}`],
    ['no budget to spend', { ...session, budget: budget('0') }, `budget.max_list_cost.amount: ${cents}`],
    ['another currency', { ...session, budget: budget('100', 'EUR') }, "budget.max_list_cost.currency: must be 'USD'"],
    [
      'a bad initial event',
      { ...session, initial_events: [{ type: 'system.message' }] },
      "initial_events.0.type: must be 'user.message' or 'user.define_outcome'",
    ],
    [
      'a repository elsewhere',
      { ...session, resources: [{ type: 'github_repository', url: 'git@github.com:a/b' }] },
      'resources.0.url: must have the form https://github.com/<owner>/<repo>',
    ],
  ])('refuses %s', (_, body, message) => {
    expect(parseRequest(createSessionBodySchema, body)).toEqual({
      ok: false,
      refusal: { code: 'invalid_request', message },
    });
  });

  it('refuses to override the model with none, with a code of its own', () => {
    const body = { ...session, agent: { type: 'agent_with_overrides', id: 'agent_1', model: null } };
    expect(parseRequest(createSessionBodySchema, body)).toMatchObject({
      refusal: {
        code: 'agent_model_required',
        message: "agent.model: a model is required; omit it to inherit the agent's",
      },
    });
  });

  it.each([
    session,
    {
      ...session,
      agent: { type: 'agent', id: 'agent_1', version: 3 },
      title: null,
      metadata: {},
      budget: budget('2500'),
    },
    { ...session, agent: { type: 'agent_with_overrides', id: 'agent_1', system: null, tools: null, skills: [] } },
    { ...session, vault_ids: ['vlt_1'], resources: [{ type: 'file', file_id: 'file_1' }], initial_events: [] },
  ])('accepts %j', (body) => {
    expect(parseRequest(createSessionBodySchema, body)).toEqual({ ok: true, value: body });
  });
});

describe('updating a session', () => {
  it('refuses vaults, even none', () => {
    expect(parseRequest(updateSessionBodySchema, { vault_ids: [] })).toEqual({
      ok: false,
      refusal: {
        code: 'vault_ids_not_updatable',
        message: 'vault_ids: changing the vaults of a session is not yet supported',
      },
    });
  });

  it.each([
    ['the environment', { environment_id: 'env_2' }, 'environment_id: Extra inputs are not permitted'],
    ['the system prompt', { agent: { system: 'x' } }, 'agent.system: Extra inputs are not permitted'],
  ])('refuses to change %s', (_, body, message) => {
    expect(parseRequest(updateSessionBodySchema, body)).toMatchObject({ refusal: { message } });
  });

  it.each([{}, { title: null, budget: null, metadata: { a: null, b: 'x' }, agent: { tools: [], mcp_servers: null } }])(
    'accepts %j',
    (body) => {
      expect(parseRequest(updateSessionBodySchema, body)).toEqual({ ok: true, value: body });
    },
  );
});
