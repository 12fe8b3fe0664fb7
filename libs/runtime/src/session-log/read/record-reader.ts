/** Reads records of the copy and opens their payloads. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SealedPayload, Seq } from '@manyhands/protocol';
import { recordPosition } from '../copy/copy-schema.ts';
import { foldRecordOf, recordColumns, type RecordRow } from '../copy/record-rows.ts';
import { openBytes, sealContext } from '../seal.ts';
import {
  MissingKey,
  type OpenedRecord,
  type PickRequest,
  type RecordsAnswer,
  type RecordsRequest,
  type StreamOfCopy,
} from './read-request.ts';

export class RecordReader {
  readonly #db: DatabaseSync;
  readonly #one: StatementSync;
  readonly #slices = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#one = db.prepare(`SELECT ${recordColumns} FROM records WHERE position = ?`);
  }

  records(request: RecordsRequest): RecordsAnswer {
    const { stream, after, upTo, kinds, order, limit, maxBytes } = request;
    if (kinds?.length === 0) return { records: [], complete: true };
    const from = recordPosition(stream, after);
    const to = recordPosition(stream, Math.max(after, upTo));
    const budget = new PageBudget(maxBytes);
    const records: OpenedRecord[] = [];
    for (const row of this.#slice(order, kinds?.length ?? 0).iterate(from, to, ...(kinds ?? []), limit + 1)) {
      if (records.length === limit) return { records, complete: false };
      const opened = openRow(row as unknown as RecordRow, request);
      const fits = budget.takes(opened, row['payload'] as Uint8Array | null);
      if (!fits && records.length > 0) return { records, complete: false };
      records.push(opened);
    }
    return { records, complete: true };
  }

  pick(request: PickRequest): OpenedRecord[][] {
    return request.wanted.map((one) => one.seqs.flatMap((seq) => this.one(one, seq) ?? []));
  }

  one(of: StreamOfCopy, seq: Seq): OpenedRecord | null {
    const row = this.row(of.stream, seq);
    return row ? openRow(row, of) : null;
  }

  row(stream: number, seq: Seq): RecordRow | null {
    return (this.#one.get(recordPosition(stream, seq)) as unknown as RecordRow | undefined) ?? null;
  }

  #slice(order: 'asc' | 'desc', kinds: number): StatementSync {
    const name = `${order} ${kinds}`;
    let statement = this.#slices.get(name);
    if (!statement) {
      const ofKinds = kinds === 0 ? '' : `AND kind IN (${Array(kinds).fill('?').join(', ')})`;
      statement = this.#db.prepare(`SELECT ${recordColumns} FROM records
        WHERE position > ? AND position <= ? ${ofKinds} ORDER BY position ${order} LIMIT ?`);
      this.#slices.set(name, statement);
    }
    return statement;
  }
}

export function openRow(row: RecordRow, of: StreamOfCopy): OpenedRecord {
  const record = foldRecordOf(row);
  if (row.payload === null || row.key_id === null) return { record, keyId: null, payload: null, spilled: null };
  const key = of.keys.get(row.key_id);
  if (!key) throw new MissingKey(of.streamId, row.key_id);
  const plain = openBytes(row.payload, key, sealContext(of.streamId, row.id));
  const { fields, spilled } = JSON.parse(plain.toString('utf8')) as SealedPayload;
  return { record, keyId: row.key_id, payload: fields, spilled: spilled ?? null };
}

/** Counts the bytes of a page. Whoever reads takes the first in any case, however large. */
export class PageBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  takes(opened: OpenedRecord, payload: Uint8Array | null): boolean {
    this.#bytes += payload?.length ?? 0;
    for (const { bytes } of Object.values(opened.spilled ?? {})) this.#bytes += bytes;
    return this.#bytes <= this.#maxBytes;
  }
}
