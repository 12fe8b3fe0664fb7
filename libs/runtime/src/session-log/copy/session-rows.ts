/** What the fold writes beside a session's records: its state, its line in lists, its wish for the brain, its erasure. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Runnable, SessionState } from '@manyhands/core';
import type { RunnableRow } from '@manyhands/ports';
import type { Instant, SessionId, WorkspaceId } from '@manyhands/protocol';

export interface Erasure {
  stream: number;
  sessionId: SessionId;
  workspaceId: WorkspaceId;
}

export class SessionRows {
  readonly #state: StatementSync;
  readonly #saveState: StatementSync;
  readonly #saveLine: StatementSync;
  readonly #removeLine: StatementSync;
  readonly #saveRunnable: StatementSync;
  readonly #removeRunnable: StatementSync;
  readonly #runnable: StatementSync;
  readonly #due: StatementSync;
  readonly #addErasure: StatementSync;
  readonly #removeErasure: StatementSync;
  readonly #erasures: StatementSync;

  constructor(db: DatabaseSync) {
    this.#state = db.prepare('SELECT state FROM states WHERE id = ?');
    // Updated in place: to replace a row is to delete it, which writes its pages twice and takes it out of the indexes.
    this.#saveState = db.prepare(`INSERT INTO states (id, state) VALUES (?, ?)
      ON CONFLICT (id) DO UPDATE SET state = excluded.state`);
    this.#saveLine = db.prepare(`INSERT INTO sessions
      (id, session, workspace, created_at, status, archived, agent, agent_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, archived = excluded.archived,
        agent = excluded.agent, agent_version = excluded.agent_version
      WHERE (status, archived, agent, agent_version) <>
        (excluded.status, excluded.archived, excluded.agent, excluded.agent_version)`);
    this.#removeLine = db.prepare('DELETE FROM sessions WHERE id = ?');
    this.#saveRunnable = db.prepare(`INSERT INTO runnable (id, session, holder, not_before, barren, since)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
      SET holder = excluded.holder, not_before = excluded.not_before, barren = excluded.barren`);
    this.#removeRunnable = db.prepare('DELETE FROM runnable WHERE id = ?');
    this.#runnable = db.prepare('SELECT session, holder, not_before, barren FROM runnable WHERE id = ?');
    this.#due = db.prepare(`SELECT session, holder, not_before, barren FROM runnable
      WHERE not_before <= ? ORDER BY since, id LIMIT ?`);
    this.#addErasure = db.prepare('INSERT OR IGNORE INTO erasures (id, session, workspace) VALUES (?, ?, ?)');
    this.#removeErasure = db.prepare('DELETE FROM erasures WHERE id = ?');
    this.#erasures = db.prepare('SELECT id, session, workspace FROM erasures ORDER BY id LIMIT ?');
  }

  state(stream: number): SessionState | null {
    const row = this.#state.get(stream) as { state: string } | undefined;
    return row ? (JSON.parse(row.state) as SessionState) : null;
  }

  save(stream: number, state: SessionState): void {
    this.#saveState.run(stream, JSON.stringify(state));
    if (state.deletedAt !== null) return;
    const { sessionId, workspaceId, createdAt, phase, archivedAt, agentId, agentVersion } = state;
    const archived = archivedAt === null ? 0 : 1;
    this.#saveLine.run(stream, sessionId, workspaceId, createdAt, phase.status, archived, agentId, agentVersion);
  }

  removeLine(stream: number): void {
    this.#removeLine.run(stream);
  }

  /** Keeps the wish for the brain; answers the row when it is new or has changed. */
  saveRunnable(stream: number, sessionId: SessionId, wish: Runnable | null, since: Instant): RunnableRow | null {
    const before = this.#runnable.get(stream);
    if (!wish) {
      if (before) this.#removeRunnable.run(stream);
      return null;
    }
    const row: RunnableRow = { sessionId, ...wish };
    if (before && jsonOf(runnableRowOf(before)) === jsonOf(row)) return null;
    this.#saveRunnable.run(stream, sessionId, row.holder, row.notBefore, row.barrenTakeovers, since);
    return row;
  }

  due(dueAt: Instant, limit: number): RunnableRow[] {
    return this.#due.all(dueAt, limit).map(runnableRowOf);
  }

  addErasure(erasure: Erasure): void {
    this.#addErasure.run(erasure.stream, erasure.sessionId, erasure.workspaceId);
  }

  removeErasure(stream: number): void {
    this.#removeErasure.run(stream);
  }

  erasures(limit: number): Erasure[] {
    return this.#erasures.all(limit).map((row) => ({
      stream: row['id'] as number,
      sessionId: row['session'] as SessionId,
      workspaceId: row['workspace'] as WorkspaceId,
    }));
  }
}

function runnableRowOf(row: Record<string, unknown>): RunnableRow {
  return {
    sessionId: row['session'] as RunnableRow['sessionId'],
    holder: row['holder'] as RunnableRow['holder'],
    notBefore: row['not_before'] as RunnableRow['notBefore'],
    barrenTakeovers: row['barren'] as number,
  };
}

function jsonOf(row: RunnableRow): string {
  return JSON.stringify([row.sessionId, row.holder, row.notBefore, row.barrenTakeovers]);
}
