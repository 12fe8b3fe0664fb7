import type {
  AgentConfig,
  AgentId,
  EnvironmentId,
  EnvironmentSettings,
  EventId,
  Instant,
  ResourceFoldRecord,
  Seq,
  WorkspaceId,
} from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';
import {
  decideArchiveAgent,
  decideCreateAgent,
  decideCreateEnvironment,
  decideUpdateAgent,
  decideUpdateEnvironment,
  type EnvironmentName,
  type ResourceDecision,
} from './decide.ts';
import { evolveResource, resourceIdOf } from './evolve.ts';
import type { AgentState, EnvironmentState, ResourceState } from './state.ts';

const workspaceId = 'wrkspc_01' as WorkspaceId;
const agentId = 'agent_01' as AgentId;
const environmentId = 'env_01' as EnvironmentId;
const base = { workspaceId, idempotency: null };
let count = 0;
const newId = (): EventId => `sevt_01${count++}` as EventId;

const config: AgentConfig = {
  name: 'An agent',
  description: null,
  model: { id: 'model-one', effort: { type: 'medium' }, speed: 'standard' },
  system: null,
  tools: [],
  mcp_servers: [],
  skills: [],
  multiagent: null,
  execution_identity: { type: 'service_account' },
  metadata: {},
};
const settings: EnvironmentSettings = {
  name: 'An environment',
  description: null,
  config: { type: 'self_hosted' },
  metadata: {},
  scope: 'organization',
};

function fold(decision: ResourceDecision, before: ResourceState | null, seq: number): ResourceState | null {
  if (decision.kind === 'refuse') throw new Error(decision.refusal.message);
  let state = before;
  decision.records.forEach((draft, i) => {
    const record = { ...draft, threadId: null, seq: seq + i, time: 1_000 * seq } as unknown as ResourceFoldRecord;
    state = evolveResource(state, record);
  });
  return state;
}

function newAgent(): AgentState {
  const created = decideCreateAgent({ type: 'create-agent', ...base, agentId, config }, null, newId);
  return fold(created, null, 1) as AgentState;
}

function update(agent: AgentState, body: object): ResourceDecision {
  return decideUpdateAgent({ type: 'update-agent', ...base, agentId, body }, agent, config, () => 'medium', newId);
}

describe('agents', () => {
  it('begin with version 1 and count up with every change', () => {
    const agent = newAgent();
    expect(agent).toMatchObject({ version: 1, configSeq: 1, createdSeq: 1, archivedAt: null });
    const changed = fold(update(agent, { name: 'Another name' }), agent, 7);
    expect(changed).toMatchObject({ version: 2, configSeq: 7, createdSeq: 1, updatedAt: 7_000 });
  });

  it('write nothing for an update that changes nothing, but refuse a stale version even then', () => {
    const agent = newAgent();
    expect(update(agent, { name: config.name, version: 1 })).toEqual({ kind: 'write', records: [] });
    expect(update(agent, { name: config.name, version: 2 })).toMatchObject({
      refusal: { code: 'agent_version_conflict' },
    });
  });

  it('are archived once and then refuse updates', () => {
    const agent = newAgent();
    const archived = fold(decideArchiveAgent(agent, newId), agent, 2) as AgentState;
    expect(archived.archivedAt).toBe(2_000 as Instant);
    expect(decideArchiveAgent(archived, newId)).toEqual({ kind: 'write', records: [] });
    expect(update(archived, { name: 'x' })).toMatchObject({ refusal: { code: 'agent_archived' } });
  });
});

describe('environments', () => {
  const create = { type: 'create-environment' as const, ...base, environmentId, settings };
  const free: EnvironmentName = { hash: 'hash', takenBy: null };
  const taken: EnvironmentName = { hash: 'hash', takenBy: 'env_02' as EnvironmentId };

  it('refuse a name that another one has, also on update', () => {
    expect(decideCreateEnvironment(create, null, taken, newId)).toMatchObject({
      refusal: { code: 'environment_name_taken' },
    });
    const environment = fold(decideCreateEnvironment(create, null, free, newId), null, 1) as EnvironmentState;
    const rename = { type: 'update-environment' as const, ...base, environmentId, body: { name: 'Other' } };
    const refused = decideUpdateEnvironment(rename, environment, settings, () => taken, newId);
    expect(refused).toMatchObject({ refusal: { code: 'environment_name_taken' } });
    const own = { hash: 'new', takenBy: environmentId };
    expect(
      fold(
        decideUpdateEnvironment(rename, environment, settings, () => own, newId),
        environment,
        2,
      ),
    ).toMatchObject({
      nameHash: 'new',
      configSeq: 2,
    });
  });
});

describe('evolveResource', () => {
  const archived: ResourceFoldRecord = {
    kind: 'agent.archived',
    id: newId(),
    threadId: null,
    seq: 1 as Seq,
    time: 1 as Instant,
    facets: { agentId },
  };

  it('knows which resource a record speaks of', () => {
    expect(resourceIdOf(archived)).toBe(agentId);
  });

  it('throws for a record that cannot follow (L12)', () => {
    expect(() => evolveResource(null, archived)).toThrow('before agent.created');
    const stranger = { ...archived, kind: 'session.created' } as unknown as ResourceFoldRecord;
    expect(() => evolveResource(null, stranger)).toThrow('no record of a resource stream');
  });
});
