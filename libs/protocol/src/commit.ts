/**
 * The envelope of one Kafka message: a commit is atomic because a message is.
 *
 * L1. Acceptance looks at these fields only, so every replica comes to the same verdict whatever its version.
 * L10. A commit takes at most 512 KiB; what does not fit went to the blob store before.
 */
import type { CommitId, Epoch, EventId, Instant, KeyId, Seq, StreamId, ThreadId, WorkspaceId } from './ids.ts';
import type { IdempotencyMark } from './record.ts';

export const commitFormat = 1;
export const maxCommitBytes = 512 * 1024;
export const maxFacetBytes = 64 * 1024;

/** A record as it lies in a commit. `kind` is a plain string: a reader may meet kinds of a later build. */
export interface StoredRecord {
  id: EventId;
  kind: string;
  threadId?: ThreadId;
  facets: Record<string, unknown>;
  /** Base64 of nonce (12 bytes), AES-256-GCM ciphertext and tag (16 bytes); absent when the kind has no payload. */
  payload?: string;
  idempotency?: IdempotencyMark;
}

export interface Commit {
  v: typeof commitFormat;
  commitId: CommitId;
  streamId: StreamId;
  workspaceId: WorkspaceId;
  /** The data key of the payloads. */
  keyId: KeyId;
  epoch: Epoch;
  expectedSeq: Seq;
  /** The writer's clock (L8). */
  at: Instant;
  /** The lowest fold version that understands every record here (L13). */
  minFold: number;
  records: StoredRecord[];
}

/** What a sealed payload holds: fields in place, and where each spilled field went. */
export interface SealedPayload {
  fields: Record<string, unknown>;
  spilled?: Record<string, SpilledField>;
}

/** A payload field in the blob store: `{streamId}/{sha256 of the ciphertext}`, encrypted with the same data key. */
export interface SpilledField {
  key: string;
  bytes: number;
}

export function encodeCommit(commit: Commit): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(commit));
}

/** Reads a message; null when it is no commit of a known format (L12: refused and counted). */
export function decodeCommit(bytes: Uint8Array): Commit | null {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null; // Not UTF-8 or not JSON: no commit of ours.
  }
  return isCommit(value) ? value : null;
}

function isCommit(value: unknown): value is Commit {
  if (typeof value !== 'object' || value === null) return false;
  const c = value as Partial<Commit>;
  return (
    c.v === commitFormat &&
    typeof c.commitId === 'string' &&
    typeof c.streamId === 'string' &&
    c.streamId !== '' &&
    typeof c.workspaceId === 'string' &&
    typeof c.keyId === 'string' &&
    isCount(c.epoch) &&
    isCount(c.expectedSeq) &&
    isCount(c.at) &&
    isCount(c.minFold) &&
    Array.isArray(c.records) &&
    c.records.length > 0 &&
    c.records.every(isStoredRecord)
  );
}

function isStoredRecord(value: unknown): value is StoredRecord {
  if (typeof value !== 'object' || value === null) return false;
  const r = value as Partial<StoredRecord>;
  return (
    typeof r.id === 'string' &&
    typeof r.kind === 'string' &&
    typeof r.facets === 'object' &&
    r.facets !== null &&
    (r.payload === undefined || typeof r.payload === 'string') &&
    (r.threadId === undefined || typeof r.threadId === 'string')
  );
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
