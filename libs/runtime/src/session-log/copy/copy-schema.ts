/**
 * The tables of the local copy. Nothing here is the truth: a copy of another version is thrown away and folded again from
 * the topics (L6), so a change of the schema needs a new `copySchemaVersion` and no migration.
 */
export const copySchemaVersion = 2;

/**
 * A record's row id holds its stream's number above and its seq below, so that a stream's records lie together and need
 * no second index. 2^28 seqs a stream and 2^25 streams stay exact in a JavaScript number.
 */
const seqsPerStream = 2 ** 28;

export function recordPosition(stream: number, seq: number): number {
  if (seq >= seqsPerStream) throw new RangeError(`a stream holds at most ${seqsPerStream - 1} records`);
  return stream * seqsPerStream + seq;
}

export function seqOfPosition(position: number): number {
  return position % seqsPerStream;
}

/** What a record is to the public order of its session's events. */
export const Visibility = {
  internal: 0,
  /** An event whose place is its own record. */
  placed: 1,
  /** A client's event that waits; another record gives it its place. */
  waiting: 2,
  /** Not an event; it gives waiting events their places. */
  places: 3,
} as const;
export type Visibility = (typeof Visibility)[keyof typeof Visibility];

/** `payload` stands last, so that reading the columns before it never touches its overflow pages. */
export const copySchema = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE positions (
  topic TEXT NOT NULL, partition INTEGER NOT NULL, next_offset INTEGER NOT NULL, last_offset INTEGER NOT NULL,
  last_mark TEXT NOT NULL, PRIMARY KEY (topic, partition)
) WITHOUT ROWID;
CREATE TABLE streams (
  id INTEGER PRIMARY KEY, stream TEXT NOT NULL UNIQUE, workspace TEXT NOT NULL, seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL, time INTEGER NOT NULL, fold INTEGER NOT NULL, min_fold INTEGER NOT NULL,
  broken_at INTEGER NOT NULL, deleted INTEGER NOT NULL
);
CREATE TABLE records (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL, kind TEXT NOT NULL, thread TEXT, time INTEGER NOT NULL,
  visibility INTEGER NOT NULL, commit_id TEXT, key_id TEXT, facets TEXT NOT NULL, payload BLOB
);
CREATE TABLE states (id INTEGER PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY, session TEXT NOT NULL, workspace TEXT NOT NULL, created_at INTEGER NOT NULL,
  status TEXT NOT NULL, archived INTEGER NOT NULL, agent TEXT NOT NULL, agent_version INTEGER NOT NULL
);
CREATE INDEX sessions_by_creation ON sessions (workspace, created_at, session);
CREATE TABLE runnable (
  id INTEGER PRIMARY KEY, session TEXT NOT NULL, holder TEXT, not_before INTEGER NOT NULL, barren INTEGER NOT NULL,
  since INTEGER NOT NULL
);
CREATE INDEX runnable_by_age ON runnable (since, id);
CREATE TABLE resources (
  resource TEXT PRIMARY KEY, kind TEXT NOT NULL, stream INTEGER NOT NULL, workspace TEXT NOT NULL,
  created_at INTEGER NOT NULL, archived INTEGER NOT NULL, deleted INTEGER NOT NULL, name_hash TEXT, state TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX resources_by_creation ON resources (kind, workspace, created_at, resource);
CREATE INDEX resources_by_name ON resources (stream, name_hash) WHERE name_hash IS NOT NULL AND deleted = 0;
CREATE TABLE agent_versions (
  agent TEXT NOT NULL, version INTEGER NOT NULL, seq INTEGER NOT NULL, time INTEGER NOT NULL,
  PRIMARY KEY (agent, version)
) WITHOUT ROWID;
CREATE TABLE idempotency (
  stream INTEGER NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL,
  time INTEGER NOT NULL, PRIMARY KEY (stream, key)
) WITHOUT ROWID;
CREATE TABLE erasures (id INTEGER PRIMARY KEY, session TEXT NOT NULL, workspace TEXT NOT NULL);
`;
