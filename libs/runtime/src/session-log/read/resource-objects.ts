/** Agents and environments as objects, one by one and in lists by creation. */
import type { AgentState, EnvironmentState, ResourceState } from '@manyhands/core';
import { SessionLogError, type Listed, type ListQuery, type Positioned } from '@manyhands/ports';
import { workspaceStream } from '@manyhands/protocol';
import type { Agent, AgentId, Environment, EnvironmentId, LogRecord, Seq, WorkspaceId } from '@manyhands/protocol';
import type { Copy } from '../copy/copy.ts';
import type { AgentVersionRow } from '../copy/resource-rows.ts';
import type { StreamRow } from '../copy/stream-rows.ts';
import type { States } from '../fold/states.ts';
import { renderAgent, renderEnvironment } from '../render/resource-object.ts';
import { CreationList } from './creation-list.ts';
import type { LogReader } from './log-reader.ts';

export interface ResourceObjectsOptions {
  copy: Copy;
  states: States;
  reader: LogReader;
}

export class ResourceObjects {
  readonly #options: ResourceObjectsOptions;
  readonly #list: CreationList;

  constructor(options: ResourceObjectsOptions) {
    this.#options = options;
    this.#list = new CreationList(options.copy.db, { table: 'resources', id: 'resource' });
  }

  async agent(workspaceId: WorkspaceId, id: AgentId, version: number | null): Promise<Positioned<Agent> | null> {
    const row = this.#row(workspaceId);
    const state = this.#options.copy.resources.agent(workspaceId, id);
    const at = state && this.#options.copy.resources.agentVersion(id, version ?? state.version);
    if (!row || !state || !at) return null;
    const [record] = await this.#options.reader.pick(row, [at.seq]);
    return { value: agentFrom(state, at, record), streamId: row.streamId, seq: row.seq };
  }

  async agentVersions(
    workspaceId: WorkspaceId,
    id: AgentId,
    query: { limit: number; before: number | null },
  ): Promise<{ items: Agent[]; hasMore: boolean } | null> {
    const row = this.#row(workspaceId);
    const state = this.#options.copy.resources.agent(workspaceId, id);
    if (!row || !state) return null;
    const versions = this.#options.copy.resources.agentVersions(id, query.before, query.limit + 1);
    const hasMore = versions.length > query.limit;
    const shown = versions.slice(0, query.limit);
    const records = await this.#recordsAt(
      row,
      shown.map(({ seq }) => seq),
    );
    return { items: shown.map((version) => agentFrom(state, version, records.get(version.seq))), hasMore };
  }

  async agents(query: ListQuery): Promise<Listed<Agent>> {
    return this.#listOf(query, 'agent', (state, record) => {
      const { version, updatedAt: time, configSeq: seq } = state as AgentState;
      return agentFrom(state as AgentState, { version, seq, time }, record);
    });
  }

  async environment(workspaceId: WorkspaceId, id: EnvironmentId): Promise<Positioned<Environment> | null> {
    const row = this.#row(workspaceId);
    const state = this.#options.copy.resources.environment(workspaceId, id);
    if (!row || !state || state.deletedAt !== null) return null;
    const [record] = await this.#options.reader.pick(row, [state.configSeq]);
    return { value: environmentFrom(state, record), streamId: row.streamId, seq: row.seq };
  }

  async environments(query: ListQuery): Promise<Listed<Environment>> {
    return this.#listOf(query, 'environment', (state, record) => environmentFrom(state as EnvironmentState, record));
  }

  async #listOf<T>(
    query: ListQuery,
    kind: ResourceState['kind'],
    render: (state: ResourceState, record: LogRecord | undefined) => T,
  ): Promise<Listed<T>> {
    const row = this.#row(query.workspaceId);
    if (!row) return { items: [], hasMore: false };
    const archived: [string, number[]][] = query.includeArchived ? [] : [['archived = 0', []]];
    const { rows, hasMore } = this.#list.page(query, [['kind = ?', [kind]], ['deleted = 0', []], ...archived]);
    const states = rows.flatMap(({ id }) => this.#options.copy.resources.get(query.workspaceId, id) ?? []);
    const records = await this.#recordsAt(
      row,
      states.map(({ configSeq }) => configSeq),
    );
    const items = states.map((state) => ({
      cursor: { createdAt: state.createdAt, id: state.id },
      value: render(state, records.get(state.configSeq)),
    }));
    return { items, hasMore };
  }

  async #recordsAt(row: StreamRow, seqs: readonly Seq[]): Promise<Map<Seq, LogRecord>> {
    const records = await this.#options.reader.pick(row, seqs);
    return new Map(records.map((record) => [record.seq, record]));
  }

  #row(workspaceId: WorkspaceId): StreamRow | null {
    const row = this.#options.states.row(workspaceStream(workspaceId));
    return row && { ...row };
  }
}

function agentFrom(state: AgentState, version: AgentVersionRow, record: LogRecord | undefined): Agent {
  if (record?.kind !== 'agent.created' && record?.kind !== 'agent.updated') throw notThere(state.id);
  return renderAgent(state, version, record.payload.agent);
}

function environmentFrom(state: EnvironmentState, record: LogRecord | undefined): Environment {
  if (record?.kind !== 'environment.created' && record?.kind !== 'environment.updated') throw notThere(state.id);
  return renderEnvironment(state, record.payload.environment);
}

function notThere(id: string): SessionLogError {
  return new SessionLogError('stream-broken', `the configuration of ${id} is not where its state says`);
}
