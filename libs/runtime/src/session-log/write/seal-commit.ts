/**
 * Makes the message of a commit: seals every payload and moves the largest spillable fields to the blob store until the
 * commit fits.
 *
 * L10. Blobs are put before the commit is written; their keys belong to the stream and to the hash of their ciphertext.
 */
import { createHash } from 'node:crypto';
import type { BlobStore } from '@manyhands/ports';
import {
  commitFormat,
  encodeCommit,
  foldVersion,
  maxCommitBytes,
  maxFacetBytes,
  spillableFields,
} from '@manyhands/protocol';
import type { Commit, KeyId, RecordDraft, SpilledField, StoredRecord } from '@manyhands/protocol';
import { sealBytes, sealContext, sealOverheadBytes } from '../seal.ts';

export interface DataKey {
  keyId: KeyId;
  key: Uint8Array;
}

export type CommitHeader = Omit<Commit, 'v' | 'keyId' | 'minFold' | 'records'>;

export interface SealDeps {
  blobs: BlobStore;
  randomBytes: (length: number) => Uint8Array;
}

/** The commit cannot be written at any price: the command that wants it is refused. */
export class CommitTooLarge extends Error {
  override readonly name = 'CommitTooLarge';
}

/** Room for the envelope, ids and the words of JSON around them. */
const envelopeBytes = 1_024;
const recordBytes = 256;
const spilledReferenceBytes = 256;

interface OpenRecord {
  draft: RecordDraft;
  facets: string;
  /** Each field of the payload as JSON; null without payload. */
  fields: Map<string, string> | null;
  spilled: Map<string, SpilledField>;
}

export async function sealCommit(
  header: CommitHeader,
  drafts: readonly RecordDraft[],
  dataKey: DataKey | null,
  deps: SealDeps,
): Promise<Uint8Array> {
  const records = drafts.map(openRecord);
  const facetBytes = records.reduce((sum, record) => sum + Buffer.byteLength(record.facets), 0);
  if (facetBytes > maxFacetBytes)
    throw new CommitTooLarge(`a request may not hold more than ${maxFacetBytes} bytes outside its contents`);
  for (const { record, field } of fieldsToSpill(records, facetBytes)) await spill(record, field, header, dataKey, deps);
  return encodeCommit({
    v: commitFormat,
    ...header,
    keyId: dataKey?.keyId ?? ('' as KeyId),
    minFold: foldVersion,
    records: records.map((record) => sealRecord(record, header, dataKey, deps)),
  });
}

function openRecord(draft: RecordDraft): OpenRecord {
  const fields = draft.payload === null ? null : new Map<string, string>();
  for (const [name, value] of Object.entries(draft.payload ?? {})) {
    const json = JSON.stringify(value) as string | undefined;
    if (json !== undefined) fields?.set(name, json);
  }
  return { draft, facets: JSON.stringify(draft.facets), fields, spilled: new Map() };
}

/** Chosen before anything is written, largest first. */
function fieldsToSpill(records: readonly OpenRecord[], facetBytes: number): { record: OpenRecord; field: string }[] {
  let total = envelopeBytes + facetBytes + records.length * recordBytes;
  const candidates: { record: OpenRecord; field: string; bytes: number }[] = [];
  for (const record of records) {
    if (!record.fields) continue;
    total += base64Length(sealOverheadBytes);
    for (const [field, json] of record.fields) {
      const bytes = Buffer.byteLength(json);
      total += base64Length(bytes + field.length + 4);
      if (spillableFields[record.draft.kind]?.includes(field) && bytes > spilledReferenceBytes) {
        candidates.push({ record, field, bytes });
      }
    }
  }
  candidates.sort((a, b) => b.bytes - a.bytes);
  const chosen: typeof candidates = [];
  while (total > maxCommitBytes) {
    const largest = candidates[chosen.length];
    if (!largest) throw new CommitTooLarge(`a request may not write more than ${maxCommitBytes} bytes at once`);
    chosen.push(largest);
    total -= base64Length(largest.bytes) - base64Length(spilledReferenceBytes);
  }
  return chosen;
}

async function spill(
  record: OpenRecord,
  field: string,
  header: CommitHeader,
  dataKey: DataKey | null,
  deps: SealDeps,
): Promise<void> {
  const json = record.fields?.get(field) ?? '';
  const context = sealContext(header.streamId, record.draft.id, field);
  const sealed = sealBytes(Buffer.from(json), keyOf(dataKey), deps.randomBytes(12), context);
  const key = `${header.streamId}/${createHash('sha256').update(sealed).digest('hex')}`;
  await deps.blobs.put(key, sealed);
  record.fields?.delete(field);
  record.spilled.set(field, { key, bytes: Buffer.byteLength(json) });
}

function sealRecord(record: OpenRecord, header: CommitHeader, dataKey: DataKey | null, deps: SealDeps): StoredRecord {
  const { draft, fields, spilled } = record;
  const { id, kind, threadId, facets, idempotency } = draft;
  const stored: StoredRecord = { id, kind, facets };
  if (threadId !== undefined) stored.threadId = threadId;
  if (idempotency !== undefined) stored.idempotency = idempotency;
  if (!fields) return stored;
  const context = sealContext(header.streamId, id);
  const plain = Buffer.from(payloadJson(fields, spilled));
  stored.payload = sealBytes(plain, keyOf(dataKey), deps.randomBytes(12), context).toString('base64');
  return stored;
}

/** A `SealedPayload`, put together from fields that are JSON already. */
function payloadJson(fields: Map<string, string>, spilled: Map<string, SpilledField>): string {
  const inPlace = [...fields].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',');
  const rest = spilled.size === 0 ? '' : `,"spilled":${JSON.stringify(Object.fromEntries(spilled))}`;
  return `{"fields":{${inPlace}}${rest}}`;
}

function keyOf(dataKey: DataKey | null): Uint8Array {
  if (!dataKey) throw new Error('a payload needs a data key');
  return dataKey.key;
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}
