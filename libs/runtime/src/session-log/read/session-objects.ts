/** Sessions and threads as objects, one by one and in lists by creation. */
import { evolveSession, type SessionContents, type SessionState } from '@manyhands/core';
import { SessionLogError, type Clock, type Listed, type SessionListQuery } from '@manyhands/ports';
import {
  sessionStream,
  type Seq,
  type Session,
  type SessionFoldRecord,
  type SessionId,
  type SessionThread,
} from '@manyhands/protocol';
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

  /** As the commit that made it left it. */
  async atCreate({ row }: FoldedSession): Promise<Session> {
    const { records } = this.#options.copy;
    let state: SessionState | null = null;
    for (const record of records.foldRecords(row.id, 0 as Seq, records.endOfFirstCommit(row.id, row.seq))) {
      state = evolveSession(state, record as SessionFoldRecord);
    }
    if (!state) throw new SessionLogError('stream-broken', `${row.streamId} has no first record`);
    return renderSession(state, await this.contentsOf(row, state), state.time);
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
    const items = sessions.flatMap(({ state }, i) => {
      const contents = records[i];
      // What cannot be read any more (a lost key) is told by its own object and harms no list.
      if (!contents) return [];
      const cursor = { createdAt: state.createdAt, id: state.sessionId };
      return [{ cursor, value: renderSession(state, contentsFrom(state, contents), now) }];
    });
    return { items, hasMore };
  }
}
