import { MemoryBlobStore, newTestId } from '@manyhands/ports/testing';
import {
  decodeCommit,
  maxCommitBytes,
  sessionStream,
  type Commit,
  type Epoch,
  type Instant,
  type RecordDraft,
  type SealedPayload,
  type Seq,
} from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';
import { openBytes, sealContext } from '../seal.ts';
import { CommitTooLarge, sealCommit, type CommitHeader } from './seal-commit.ts';

const streamId = sessionStream(newTestId('session'));
const dataKey = { keyId: newTestId('key'), key: new Uint8Array(32).fill(3) };
let nonces = 0;
const randomBytes = (length: number): Uint8Array => new Uint8Array(length).fill(nonces++ % 256);

function header(): CommitHeader {
  return {
    commitId: newTestId('commit'),
    streamId,
    workspaceId: newTestId('workspace'),
    epoch: 0 as Epoch,
    expectedSeq: 0 as Seq,
    at: 1 as Instant,
  };
}

function message(text: string): RecordDraft {
  const content = [{ type: 'text' as const, text }];
  return {
    kind: 'user.message',
    id: newTestId('event'),
    facets: { placed: false, chars: text.length },
    payload: { content },
  };
}

function open(commit: Commit, index: number): SealedPayload {
  const record = commit.records[index];
  if (!record?.payload) throw new Error('no payload');
  const plain = openBytes(Buffer.from(record.payload, 'base64'), dataKey.key, sealContext(streamId, record.id));
  return JSON.parse(plain.toString()) as SealedPayload;
}

async function seal(drafts: RecordDraft[], blobs = new MemoryBlobStore()) {
  const bytes = await sealCommit(header(), drafts, dataKey, { blobs, randomBytes });
  return { bytes, commit: decodeCommit(bytes) as Commit, blobs };
}

describe('sealCommit', () => {
  it('seals payloads for their own record alone', async () => {
    const { commit } = await seal([message('one'), message('two')]);
    expect(open(commit, 0)).toEqual({ fields: { content: [{ type: 'text', text: 'one' }] } });
    const [first, second] = commit.records;
    const moved = { ...commit, records: [{ ...first, payload: second?.payload }, second] } as Commit;
    expect(() => open(moved, 0)).toThrow();
  });

  it('moves the largest fields out until the commit fits, and no more (L10)', async () => {
    const sizes = [100_000, 300_000, 200_000, 1_000];
    const { bytes, commit, blobs } = await seal(sizes.map((size) => message('z'.repeat(size))));
    expect(bytes.length).toBeLessThanOrEqual(maxCommitBytes);
    expect(blobs.blobs.size).toBe(1);
    const sealed = sizes.map((_, i) => open(commit, i));
    expect(sealed.map(({ spilled }) => spilled?.['content']?.bytes ?? 0)).toEqual([0, expect.any(Number), 0, 0]);
    expect([...blobs.blobs.keys()]).toEqual([sealed[1]?.spilled?.['content']?.key]);
    expect([...blobs.blobs.keys()][0]).toMatch(new RegExp(`^${streamId}/[0-9a-f]{64}$`));
  });

  it('fits a commit of many large fields', async () => {
    const { bytes } = await seal(Array.from({ length: 50 }, () => message('z'.repeat(200_000))));
    expect(bytes.length).toBeLessThanOrEqual(maxCommitBytes);
  });

  it('refuses what cannot be made to fit', async () => {
    const title = 'a title is not spillable '.repeat(40_000);
    const updated: RecordDraft = {
      kind: 'session.updated',
      id: newTestId('event'),
      facets: { changed: ['title'] },
      payload: { title },
    };
    await expect(seal([updated])).rejects.toBeInstanceOf(CommitTooLarge);
    const seqs = Array.from({ length: 20_000 }, (_, i) => i as Seq);
    const taken: RecordDraft = { kind: 'input.taken', id: newTestId('event'), facets: { seqs }, payload: null };
    await expect(seal([taken])).rejects.toBeInstanceOf(CommitTooLarge);
  });

  it('puts no blob when the commit is refused', async () => {
    const blobs = new MemoryBlobStore();
    const title = 'x'.repeat(maxCommitBytes);
    const updated: RecordDraft = {
      kind: 'session.updated',
      id: newTestId('event'),
      facets: { changed: ['title'] },
      payload: { title },
    };
    await expect(seal([message('y'.repeat(maxCommitBytes)), updated], blobs)).rejects.toBeInstanceOf(CommitTooLarge);
    expect(blobs.blobs.size).toBe(0);
  });
});
