/** Records as the copy keeps them: facets in the clear, payload sealed. Used by the fold and by every reader. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CommitId, EventId, FoldRecord, Instant, KeyId, Seq, ThreadId } from '@manyhands/protocol';
import { recordPosition, seqOfPosition, Visibility } from './copy-schema.ts';

/** A record as the database gives it. */
export interface RecordRow {
  position: number;
  id: EventId;
  kind: string;
  thread: ThreadId | null;
  time: Instant;
  visibility: Visibility;
  key_id: KeyId | null;
  facets: string;
  payload: Uint8Array | null;
}

export interface NewRecord {
  id: EventId;
  kind: string;
  thread: ThreadId | null;
  time: Instant;
  visibility: Visibility;
  /** Set on the first record of a commit (L4). */
  commitId: CommitId | null;
  keyId: KeyId | null;
  facets: string;
  payload: Uint8Array | null;
}

export const recordColumns = 'position, id, kind, thread, time, visibility, key_id, facets, payload';

export class RecordRows {
  readonly #insert: StatementSync;
  readonly #commitId: StatementSync;
  readonly #facets: StatementSync;
  readonly #erase: StatementSync;
  readonly #secondCommit: StatementSync;

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare(`INSERT INTO records
      (position, id, kind, thread, time, visibility, commit_id, key_id, facets, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#commitId = db.prepare('SELECT commit_id FROM records WHERE position = ?');
    this.#facets = db.prepare(`SELECT position, id, kind, thread, time, visibility, facets FROM records
      WHERE position > ? AND position <= ? ORDER BY position`);
    this.#secondCommit = db.prepare(`SELECT position FROM records
      WHERE position > ? AND position < ? AND commit_id IS NOT NULL ORDER BY position LIMIT 1`);
    this.#erase = db.prepare('DELETE FROM records WHERE position >= ? AND position < ?');
  }

  insert(stream: number, seq: Seq, record: NewRecord): void {
    const { id, kind, thread, time, visibility, commitId, keyId, facets, payload } = record;
    const position = recordPosition(stream, seq);
    this.#insert.run(position, id, kind, thread, time, visibility, commitId, keyId, facets, payload);
  }

  /** The commit whose first record stands at this seq; null when none begins there. */
  commitAt(stream: number, seq: Seq): CommitId | null {
    const row = this.#commitId.get(recordPosition(stream, seq)) as { commit_id: CommitId | null } | undefined;
    return row?.commit_id ?? null;
  }

  /** The last seq of the commit that made the stream; `head` when it is the only one. */
  endOfFirstCommit(stream: number, head: Seq): Seq {
    const row = this.#secondCommit.get(recordPosition(stream, 1), recordPosition(stream + 1, 0));
    return row ? ((seqOfPosition((row as { position: number }).position) - 1) as Seq) : head;
  }

  *foldRecords(stream: number, after: Seq, upTo: Seq): Iterable<FoldRecord> {
    const rows = this.#facets.iterate(recordPosition(stream, after), recordPosition(stream, upTo));
    for (const row of rows) yield foldRecordOf(row as unknown as RecordRow);
  }

  /** Removes the records of a deleted session before `session.deleted` itself. */
  eraseBefore(stream: number, seq: Seq): void {
    this.#erase.run(recordPosition(stream, 0), recordPosition(stream, seq));
  }
}

export function foldRecordOf(row: Omit<RecordRow, 'payload' | 'key_id'>): FoldRecord {
  return {
    kind: row.kind,
    id: row.id,
    threadId: row.thread,
    seq: seqOfPosition(row.position) as Seq,
    time: row.time,
    facets: JSON.parse(row.facets) as unknown,
  } as FoldRecord;
}
