/** Agents and environments: one row each, and one for every version of an agent. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AgentState, EnvironmentState, ResourceState } from '@manyhands/core';
import type { AgentId, EnvironmentId, Instant, Seq, WorkspaceId } from '@manyhands/protocol';
import type { StreamRow } from './stream-rows.ts';

export interface AgentVersionRow {
  version: number;
  seq: Seq;
  time: Instant;
}

export class ResourceRows {
  readonly #one: StatementSync;
  readonly #save: StatementSync;
  readonly #byName: StatementSync;
  readonly #addVersion: StatementSync;
  readonly #version: StatementSync;
  readonly #versions: StatementSync;
  readonly #clear: StatementSync;

  constructor(db: DatabaseSync) {
    this.#one = db.prepare('SELECT state FROM resources WHERE resource = ? AND workspace = ?');
    this.#save = db.prepare(`INSERT OR REPLACE INTO resources
      (resource, kind, stream, workspace, created_at, archived, deleted, name_hash, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#byName = db.prepare(
      'SELECT resource FROM resources WHERE stream = ? AND name_hash = ? AND deleted = 0 ORDER BY created_at LIMIT 1',
    );
    this.#addVersion = db.prepare(
      'INSERT OR REPLACE INTO agent_versions (agent, version, seq, time) VALUES (?, ?, ?, ?)',
    );
    this.#version = db.prepare('SELECT version, seq, time FROM agent_versions WHERE agent = ? AND version = ?');
    this.#versions = db.prepare(
      'SELECT version, seq, time FROM agent_versions WHERE agent = ? AND version < ? ORDER BY version DESC LIMIT ?',
    );
    this.#clear = db.prepare('DELETE FROM resources WHERE stream = ?');
  }

  get(workspaceId: WorkspaceId, id: string): ResourceState | null {
    const row = this.#one.get(id, workspaceId) as { state: string } | undefined;
    return row ? (JSON.parse(row.state) as ResourceState) : null;
  }

  agent(workspaceId: WorkspaceId, id: AgentId): AgentState | null {
    const state = this.get(workspaceId, id);
    return state?.kind === 'agent' ? state : null;
  }

  /** Deleted ones included. */
  environment(workspaceId: WorkspaceId, id: EnvironmentId): EnvironmentState | null {
    const state = this.get(workspaceId, id);
    return state?.kind === 'environment' ? state : null;
  }

  save(stream: StreamRow, state: ResourceState): void {
    const isEnvironment = state.kind === 'environment';
    this.#save.run(
      state.id,
      state.kind,
      stream.id,
      stream.workspaceId,
      state.createdAt,
      state.archivedAt === null ? 0 : 1,
      isEnvironment && state.deletedAt !== null ? 1 : 0,
      isEnvironment ? state.nameHash : null,
      JSON.stringify(state),
    );
  }

  addVersion(id: AgentId, version: number, seq: Seq, time: Instant): void {
    this.#addVersion.run(id, version, seq, time);
  }

  environmentNamed(stream: number, nameHash: string): EnvironmentId | null {
    const row = this.#byName.get(stream, nameHash) as { resource: EnvironmentId } | undefined;
    return row?.resource ?? null;
  }

  agentVersion(id: AgentId, version: number): AgentVersionRow | null {
    return (this.#version.get(id, version) as unknown as AgentVersionRow | undefined) ?? null;
  }

  agentVersions(id: AgentId, before: number | null, limit: number): AgentVersionRow[] {
    return this.#versions.all(id, before ?? Number.MAX_SAFE_INTEGER, limit) as unknown as AgentVersionRow[];
  }

  /** Before a stream is folded again; versions are written over. */
  clear(stream: number): void {
    this.#clear.run(stream);
  }
}
