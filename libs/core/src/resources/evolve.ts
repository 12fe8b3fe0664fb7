/** One record of a workspace's resource stream onto the resource it speaks of; throws for a record that cannot follow (L12). */
import type { AgentId, EnvironmentId, ResourceFoldRecord } from '@manyhands/protocol';
import { CannotEvolve } from '../session/evolve.ts';
import type { AgentState, EnvironmentState, ResourceState } from './state.ts';

/** Which resource a record speaks of. */
export function resourceIdOf(record: ResourceFoldRecord): AgentId | EnvironmentId {
  return 'agentId' in record.facets ? record.facets.agentId : record.facets.environmentId;
}

export function evolveResource(before: ResourceState | null, record: ResourceFoldRecord): ResourceState {
  switch (record.kind) {
    case 'agent.created':
      if (before) throw new CannotEvolve('agent.created twice');
      return { kind: 'agent', id: record.facets.agentId, version: record.facets.version, ...born(record) };
    case 'agent.updated': {
      const agent = agentOf(before, record.kind);
      return { ...agent, version: record.facets.version, configSeq: record.seq, updatedAt: record.time };
    }
    case 'agent.archived':
      return { ...agentOf(before, record.kind), archivedAt: record.time, updatedAt: record.time };
    case 'environment.created': {
      if (before) throw new CannotEvolve('environment.created twice');
      const { environmentId, nameHash } = record.facets;
      return { kind: 'environment', id: environmentId, nameHash, deletedAt: null, ...born(record) };
    }
    case 'environment.updated': {
      const environment = environmentOf(before, record.kind);
      return { ...environment, nameHash: record.facets.nameHash, configSeq: record.seq, updatedAt: record.time };
    }
    case 'environment.archived':
      return { ...environmentOf(before, record.kind), archivedAt: record.time, updatedAt: record.time };
    case 'environment.deleted':
      return { ...environmentOf(before, record.kind), deletedAt: record.time, updatedAt: record.time };
    default:
      throw new CannotEvolve(`no record of a resource stream: ${(record as { kind: string }).kind}`);
  }
}

function born(record: ResourceFoldRecord) {
  const { seq, time } = record;
  return { createdAt: time, updatedAt: time, archivedAt: null, createdSeq: seq, configSeq: seq };
}

function agentOf(before: ResourceState | null, kind: string): AgentState {
  if (before?.kind !== 'agent') throw new CannotEvolve(`${kind} before agent.created`);
  return before;
}

function environmentOf(before: ResourceState | null, kind: string): EnvironmentState {
  if (before?.kind !== 'environment') throw new CannotEvolve(`${kind} before environment.created`);
  return before;
}
