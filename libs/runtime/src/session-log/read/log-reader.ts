/**
 * Reads of the log with payloads in the clear. Small reads happen here, larger ones in the pool's threads. A key that is
 * not at hand is looked for behind the barrier; fields in the blob store are fetched and put in their places.
 */
import type { StatementSync } from 'node:sqlite';
import { SessionLogError, type BlobStore, type EventsPage } from '@manyhands/ports';
import type { LogRecord, Seq, StreamId } from '@manyhands/protocol';
import type { Copy } from '../copy/copy.ts';
import { recordPosition } from '../copy/copy-schema.ts';
import type { StreamRow } from '../copy/stream-rows.ts';
import { sealContext } from '../seal.ts';
import type { DataKeys } from '../write/data-keys.ts';
import type { InlineReads } from './copy-reader.ts';
import {
  MissingBlobs,
  MissingKey,
  type EventsAnswer,
  type EventsRequest,
  type OpenedRecord,
  type PageRequest,
  type Reads,
  type RecordsRequest,
} from './read-request.ts';

/** Pages end here. */
export const maxPageBytes = 8 * 1024 * 1024;

export interface LogReaderOptions {
  copy: Copy;
  inline: InlineReads;
  /** Where larger reads go; the inline reads themselves for a copy in memory. */
  pool: Reads;
  keys: DataKeys;
  blobs: BlobStore;
}

/** What is worth no trip to another thread: about a millisecond of work. */
const smallRecords = 64;
const smallBytes = 128 * 1024;

export interface RecordPick {
  row: StreamRow;
  seqs: readonly Seq[];
}

export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #size: StatementSync;

  constructor(options: LogReaderOptions) {
    this.#options = options;
    // The length is taken where the row is, or SQLite reads every payload to hand it on.
    this.#size = options.copy.db.prepare(`SELECT count(*) AS records, coalesce(sum(bytes), 0) AS bytes
      FROM (SELECT length(payload) AS bytes FROM records WHERE position > ? AND position <= ? LIMIT ${smallRecords + 1})`);
  }

  async records(
    row: StreamRow,
    slice: Omit<RecordsRequest, 'kind' | 'stream' | 'streamId' | 'keys' | 'maxBytes'>,
  ): Promise<{ records: LogRecord[]; complete: boolean }> {
    const reads = this.#reads(row, slice.after, slice.upTo);
    const answer = await this.#withKeys(row.streamId, (keys) =>
      reads.read({ kind: 'records', ...slice, stream: row.id, streamId: row.streamId, keys, maxBytes: maxPageBytes }),
    );
    return { records: await this.#complete(row.streamId, answer.records), complete: answer.complete };
  }

  /** Single records, small ones as a rule. A record that is not there is left out. */
  async pick(row: StreamRow, seqs: readonly Seq[]): Promise<LogRecord[]> {
    const answer = await this.#withKeys(row.streamId, async (keys) => {
      return this.#options.inline.readNow({
        kind: 'pick',
        wanted: [{ stream: row.id, streamId: row.streamId, keys, seqs }],
      });
    });
    return this.#complete(row.streamId, answer.flat());
  }

  /** Single records of many streams, read in the pool; null for a stream whose payloads cannot be read any more. */
  async pickMany(picks: readonly RecordPick[]): Promise<(LogRecord[] | null)[]> {
    const { pool, keys } = this.#options;
    try {
      const wanted = picks.map(({ row: { id, streamId }, seqs }) => ({
        stream: id,
        streamId,
        keys: keys.ring(streamId),
        seqs,
      }));
      const answer = await pool.read({ kind: 'pick', wanted });
      return await Promise.all(picks.map(({ row }, i) => this.#complete(row.streamId, answer[i] ?? [])));
    } catch (cause) {
      if (!(cause instanceof MissingKey) && !(cause instanceof SessionLogError && cause.code === 'key-missing'))
        throw cause;
      // One by one, so that a lost key is found out and blamed on its own stream.
      return Promise.all(picks.map(({ row, seqs }) => this.pick(row, seqs).catch(nullIfUnreadable)));
    }
  }

  async events(
    row: StreamRow,
    page: Omit<EventsRequest, 'kind' | 'stream' | 'streamId' | 'keys' | 'maxBytes'>,
  ): Promise<{ events: EventsAnswer['events']; hasMore: boolean; records: Map<Seq, LogRecord> }> {
    const reads = this.#readsOfEvents(row, page);
    const answer = await this.#withKeys(row.streamId, (keys) =>
      reads.read({ kind: 'events', ...page, stream: row.id, streamId: row.streamId, keys, maxBytes: maxPageBytes }),
    );
    const records = await this.#complete(row.streamId, answer.records);
    return {
      events: answer.events,
      hasMore: answer.hasMore,
      records: new Map(records.map((record) => [record.seq, record])),
    };
  }

  /** A page as bytes. Fields in the blob store are fetched when it is known which it needs. */
  async page(
    row: StreamRow,
    page: Omit<PageRequest, 'kind' | 'stream' | 'streamId' | 'keys' | 'maxBytes' | 'blobs'>,
  ): Promise<EventsPage> {
    const reads = this.#readsOfEvents(row, page);
    const { id: stream, streamId } = row;
    const read = (blobs: PageRequest['blobs']): Promise<EventsPage> =>
      this.#withKeys(streamId, (keys) =>
        reads.read({ kind: 'page', ...page, stream, streamId, keys, maxBytes: maxPageBytes, blobs }),
      );
    try {
      return await read(new Map());
    } catch (cause) {
      if (!(cause instanceof MissingBlobs)) throw cause;
      const blobs = await Promise.all(cause.blobKeys.map(async (key) => [key, await this.#blob(key)] as const));
      return read(new Map(blobs));
    }
  }

  #readsOfEvents(row: StreamRow, page: Pick<EventsRequest, 'order' | 'after' | 'upTo'>): Reads {
    return page.order === 'asc' ? this.#reads(row, page.after?.seq ?? (0 as Seq), page.upTo) : this.#options.pool;
  }

  #reads(row: StreamRow, after: Seq, upTo: Seq): Reads {
    const from = recordPosition(row.id, after);
    const size = this.#size.get(from, recordPosition(row.id, Math.max(after, upTo))) as {
      records: number;
      bytes: number;
    };
    const isSmall = size.records <= smallRecords && size.bytes <= smallBytes;
    return isSmall ? this.#options.inline : this.#options.pool;
  }

  async #withKeys<T>(streamId: StreamId, read: (keys: ReturnType<DataKeys['ring']>) => Promise<T>): Promise<T> {
    try {
      return await read(this.#options.keys.ring(streamId));
    } catch (cause) {
      if (!(cause instanceof MissingKey)) throw cause;
      return read(await this.#options.keys.find(streamId, cause.keyId));
    }
  }

  async #complete(streamId: StreamId, opened: readonly OpenedRecord[]): Promise<LogRecord[]> {
    const records: LogRecord[] = [];
    for (const one of opened) {
      const payload = one.spilled ? await this.#fetchSpilled(streamId, one) : one.payload;
      records.push({ ...one.record, streamId, payload } as LogRecord);
    }
    return records;
  }

  async #fetchSpilled(streamId: StreamId, opened: OpenedRecord): Promise<Record<string, unknown>> {
    const { keys, pool } = this.#options;
    const payload = { ...opened.payload };
    for (const [field, { key: blobKey }] of Object.entries(opened.spilled ?? {})) {
      const sealed = await this.#blob(blobKey);
      const key = opened.keyId === null ? undefined : keys.ring(streamId).get(opened.keyId);
      if (!key) throw new SessionLogError('key-missing', `the data key of ${opened.record.id} is gone`);
      payload[field] = await pool.read({
        kind: 'open',
        sealed,
        key,
        context: sealContext(streamId, opened.record.id, field),
      });
    }
    return payload;
  }

  async #blob(key: string): Promise<Uint8Array> {
    const sealed = await this.#options.blobs.get(key);
    if (!sealed) throw new SessionLogError('stream-broken', `contents are gone from the blob store: ${key}`);
    return sealed;
  }
}

function nullIfUnreadable(cause: unknown): null {
  if (cause instanceof SessionLogError && (cause.code === 'key-missing' || cause.code === 'stream-broken')) return null;
  throw cause;
}
