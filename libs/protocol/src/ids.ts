/**
 * Ids and positions, branded so that one cannot be passed for another.
 *
 * An id is `<prefix>_` + two characters of log generation (`01`) + 22 base-62 characters (128 bits). Clients treat it as
 * opaque; we read only the prefix and the generation (L9).
 */

declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type WorkspaceId = Brand<string, 'WorkspaceId'>;
export type AgentId = Brand<string, 'AgentId'>;
export type EnvironmentId = Brand<string, 'EnvironmentId'>;
export type SessionId = Brand<string, 'SessionId'>;
export type ThreadId = Brand<string, 'ThreadId'>;
/** Id of a record; for records that are public events it is the `sevt_` id a client sees. */
export type EventId = Brand<string, 'EventId'>;
/** The unit of order: a session id, or the workspace's resource stream. */
export type StreamId = Brand<string, 'StreamId'>;
export type CommitId = Brand<string, 'CommitId'>;
/** Names a data key of one stream. */
export type KeyId = Brand<string, 'KeyId'>;
/** One start of one worker process. */
export type Incarnation = Brand<string, 'Incarnation'>;
export type RequestId = Brand<string, 'RequestId'>;

/** Position in one stream: 1, 2, 3 without gaps (L5); 0 stands before the first record. */
export type Seq = Brand<number, 'Seq'>;
/** A lease's growing number; 0 before the first lease. */
export type Epoch = Brand<number, 'Epoch'>;
/** Position in one partition of a topic. */
export type Offset = Brand<number, 'Offset'>;
/** Milliseconds since 1970 UTC. */
export type Instant = Brand<number, 'Instant'>;

export const idPrefixes = {
  agent: 'agent_',
  environment: 'env_',
  session: 'sesn_',
  thread: 'sthr_',
  event: 'sevt_',
  workspace: 'wrkspc_',
  commit: 'cmt_',
  key: 'dkey_',
  incarnation: 'inc_',
  request: 'req_',
} as const;

export type IdKind = keyof typeof idPrefixes;

export interface IdOf {
  agent: AgentId;
  environment: EnvironmentId;
  session: SessionId;
  thread: ThreadId;
  event: EventId;
  workspace: WorkspaceId;
  commit: CommitId;
  key: KeyId;
  incarnation: Incarnation;
  request: RequestId;
}

/** The generation of the log that new streams are written to (L9). */
export const logGeneration = '01';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bodyLength = 22;

/** Makes the id of a kind from 16 bytes: random ones, or the start of a hash where the id must be derived. */
export function formatId<K extends IdKind>(kind: K, bytes: Uint8Array): IdOf[K] {
  if (bytes.length < 16) throw new RangeError(`an id needs 16 bytes, got ${bytes.length}`);
  let value = 0n;
  for (let i = 0; i < 16; i++) value = (value << 8n) | BigInt(bytes[i] as number);
  let body = '';
  for (let i = 0; i < bodyLength; i++) {
    body = alphabet.charAt(Number(value % 62n)) + body;
    value /= 62n;
  }
  return `${idPrefixes[kind]}${logGeneration}${body}` as IdOf[K];
}

/** Whether a string has the form of an id of this kind; says nothing about its existence. */
export function isId<K extends IdKind>(kind: K, value: string): value is IdOf[K] {
  const prefix = idPrefixes[kind];
  return (
    value.length <= prefix.length + 40 && value.startsWith(prefix) && /^[0-9A-Za-z]+$/.test(value.slice(prefix.length))
  );
}

/** The stream that holds a workspace's agents and environments. */
export function workspaceStream(workspaceId: WorkspaceId): StreamId {
  return `resources/${workspaceId}` as StreamId;
}

/** A session's own stream is named by its id. */
export function sessionStream(sessionId: SessionId): StreamId {
  return sessionId as string as StreamId;
}

/** Streams that hold a session; everything else holds resources. */
export function isSessionStream(streamId: StreamId): boolean {
  return streamId.startsWith(idPrefixes.session);
}
