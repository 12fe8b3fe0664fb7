/** Sessions and threads as objects, one by one and in lists by creation. */
import type { SessionContents, SessionState } from '@manyhands/core';
import type { Clock, Listed, SessionListQuery } from '@manyhands/ports';
import { sessionStream, type Seq, type Session, type SessionId, type SessionThread } from '@manyhands/protocol';
import type { Copy } from '../copy/copy.ts';
import type { StreamRow } from '../copy/stream-rows.ts';
import type { FoldedSession, States } from '../fold/states.ts';
import { renderSession, renderThread } from '../render/session-object.ts';
import { contentSeqs, contentsFrom } from '../session-contents.ts';
import { CreationList } from './creation-list.ts';
import type { LogReader } from './log-reader.ts';

export interface SessionObjectsOptions {
  copy: Copy;
  states: States;
  reader: LogReader;
  clock: Clock;
}

export class SessionObjects {
  readonly #options: SessionObjectsOptions;
  readonly #list: CreationList;

  constructor(options: SessionObjectsOptions) {
    this.#options = options;
    this.#list = new CreationList(options.copy.db, { table: 'sessions', id: 'session' });
  }

  async contentsOf(row: StreamRow, state: SessionState): Promise<SessionContents> {
    return contentsFrom(state, await this.#options.reader.pick(row, contentSeqs(state)));
  }

  async session({ row, state }: FoldedSession): Promise<Session> {
    return renderSession(state, await this.contentsOf(row, state), this.#options.clock.now());
  }

  async thread({ row, state }: FoldedSession): Promise<SessionThread> {
    return renderThread(state, await this.contentsOf(row, state), this.#options.clock.now());
  }

  /** The contents are those of the create; what lives with the session (status, usage) is of now, or of the very start. */
  async atCreate({ row, state }: FoldedSession): Promise<Session> {
    const first = 1 as Seq;
    const created: SessionState = { ...state, contents: { titleSeq: first, metadataSeq: first, agentSeq: first } };
    return renderSession(created, await this.contentsOf(row, created), this.#options.clock.now());
  }

  async sessions(query: SessionListQuery): Promise<Listed<Session>> {
    const filters: [string, (string | number)[]][] = [];
    if (!query.includeArchived) filters.push(['archived = 0', []]);
    if (query.agentId !== null) filters.push(['agent = ?', [query.agentId]]);
    if (query.agentVersion !== null) filters.push(['agent_version = ?', [query.agentVersion]]);
    if (query.statuses) filters.push([`status IN (${query.statuses.map(() => '?').join(', ')})`, [...query.statuses]]);
    const { rows, hasMore } = this.#list.page(query, filters);
    const sessions = rows.flatMap(({ id }) => this.#options.states.listed(sessionStream(id as SessionId)) ?? []);
    const picks = sessions.map(({ row, state }) => ({ row, seqs: contentSeqs(state) }));
    const records = await this.#options.reader.pickMany(picks);
    const now = this.#options.clock.now();
    const items = sessions.map(({ state }, i) => ({
      cursor: { createdAt: state.createdAt, id: state.sessionId },
      value: renderSession(state, contentsFrom(state, records[i] ?? []), now),
    }));
    return { items, hasMore };
  }
}
