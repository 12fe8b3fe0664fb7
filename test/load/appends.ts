/**
 * Appends per second of the session log (seal, durable write, fold into the copy, answer) against bare inserts into an
 * SQLite file of the same durability, in the same run: one by one, and by many callers at once against transactions of as
 * many rows.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Seq, SessionId } from '@manyhands/protocol';
import { formatId } from '@manyhands/protocol';
import { BenchPlatform, concurrently } from './bench-platform.ts';
import { DataLog } from './data-log.ts';
import { figure, round, type Figure } from './figures.ts';
import type { Measurement } from './measurement.ts';

/** About what a commit of one small record takes in the log. */
const rowBytes = 1_024;
const title = 'A title of usual length, and some more. '.repeat(8);

export const appends: Measurement = {
  name: 'appends',
  about: 'appends per second of the session log in this process, against bare SQLite inserts (WAL, synchronous=FULL)',
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    try {
      const first = (await platform.newSession()) as SessionId;
      await platform.server.stop();
      const log = await DataLog.open(platform.server.dataDirectory);
      const sessions = await log.newSessions(await log.templateOf(first), 256);
      const bare = new BareInserts(path.join(platform.server.dataDirectory, 'bare.db'));
      const count = isQuick ? 2_000 : 10_000;
      await appendsPerSecond(log, sessions, 64, 2_000); // To have it compiled.
      const figures: Figure[] = [];
      for (const callers of [1, 64, 256]) {
        const inserts = Math.max(bare.perSecond(callers, count), bare.perSecond(callers, count));
        const appended = await appendsPerSecond(log, sessions, callers, callers === 1 ? count / 4 : count);
        figures.push(figureOf(callers, appended, inserts));
      }
      bare.close();
      await log.close();
      return figures;
    } finally {
      await platform.close();
      await rm(platform.server.dataDirectory, { recursive: true, force: true });
    }
  },
};

/** Each caller appends to a session of its own, one commit after the other. */
async function appendsPerSecond(log: DataLog, sessions: readonly SessionId[], callers: number, count: number) {
  const began = performance.now();
  await concurrently(callers, callers, async (index) => {
    const sessionId = sessions[index] as SessionId;
    const state = await log.service.getState(sessionId);
    if (!state) throw new Error(`${sessionId} is gone`);
    const { workspaceId, epoch } = state;
    let expectedSeq: Seq = state.seq;
    for (let i = 0; i < count / callers; i++) {
      const id = formatId('event', log.clock.randomBytes(16));
      const record = {
        kind: 'session.updated' as const,
        id,
        facets: { changed: ['title' as const] },
        payload: { title },
      };
      const result = await log.service.append({ sessionId, workspaceId, epoch, expectedSeq, records: [record] });
      if (result.kind === 'conflict') throw new Error('somebody else writes into this session');
      expectedSeq = result.lastSeq;
    }
  });
  return (count / (performance.now() - began)) * 1_000;
}

class BareInserts {
  readonly #db: DatabaseSync;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
    this.#db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, value BLOB NOT NULL)');
  }

  perSecond(rowsAtOnce: number, count: number): number {
    const insert = this.#db.prepare('INSERT INTO rows (value) VALUES (?)');
    const value = new Uint8Array(rowBytes);
    const began = performance.now();
    for (let written = 0; written < count; written += rowsAtOnce) {
      this.#db.exec('BEGIN IMMEDIATE');
      for (let i = 0; i < rowsAtOnce; i++) insert.run(value);
      this.#db.exec('COMMIT');
    }
    return (count / (performance.now() - began)) * 1_000;
  }

  close(): void {
    this.#db.close();
  }
}

function figureOf(callers: number, appended: number, inserts: number): Figure {
  const name = callers === 1 ? 'appends one by one' : `appends by ${callers} callers`;
  const shown = `${round(appended)}/s; bare inserts ${round(inserts)}/s; ${round((appended / inserts) * 100)} %`;
  return figure(name, shown, { appendsPerSecond: appended, insertsPerSecond: inserts, ratio: appended / inserts });
}
