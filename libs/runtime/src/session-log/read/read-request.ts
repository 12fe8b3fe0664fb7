/**
 * What may be asked of a reader of the copy, wherever it runs: plain values that pass between threads. A request brings the
 * data keys it needs, so a reader knows no key service and no key file.
 */
import type { EventCursor, EventsPage, TimeFilter } from '@manyhands/ports';
import type { FoldRecord, Instant, KeyId, Seq, SpilledField, StreamId } from '@manyhands/protocol';

export interface StreamOfCopy {
  /** Its number in the copy. */
  stream: number;
  streamId: StreamId;
  keys: ReadonlyMap<KeyId, Uint8Array>;
}

/** A slice of records. */
export interface RecordsRequest extends StreamOfCopy {
  kind: 'records';
  after: Seq;
  upTo: Seq;
  kinds: readonly string[] | null;
  order: 'asc' | 'desc';
  limit: number;
  maxBytes: number;
}

/** Single records, of several streams at once. */
export interface PickRequest {
  kind: 'pick';
  wanted: (StreamOfCopy & { seqs: readonly Seq[] })[];
}

export interface EventsQuery extends StreamOfCopy {
  /** `deliveries`: waiting events too, when they came in. `places`: only what has its place. */
  of: 'deliveries' | 'places';
  /** The head when the request was made; what came later is not seen. */
  upTo: Seq;
  /** Events that wait at that head, to stand behind the last placed one; none for deliveries. */
  waiting: readonly Seq[];
  order: 'asc' | 'desc';
  after: EventCursor | null;
  limit: number;
  types: readonly string[] | null;
  createdAt: TimeFilter;
  maxBytes: number;
}

/** A page of the public order, or of what streams deliver, as the records that it needs. */
export interface EventsRequest extends EventsQuery {
  kind: 'events';
}

/** The same as the bytes that a client gets. */
export interface PageRequest extends EventsQuery {
  kind: 'page';
  agentName: string;
  /** Contents of fields in the blob store, by their keys; `MissingBlobs` tells which a page needs. */
  blobs: ReadonlyMap<string, Uint8Array>;
}

/** A field that came from the blob store. */
export interface OpenRequest {
  kind: 'open';
  sealed: Uint8Array;
  key: Uint8Array;
  context: string;
}

export type ReadRequest = RecordsRequest | PickRequest | EventsRequest | PageRequest | OpenRequest;

/** A record with its payload opened, but for the fields that lie in the blob store. */
export interface OpenedRecord {
  record: FoldRecord;
  keyId: KeyId | null;
  payload: Record<string, unknown> | null;
  spilled: Record<string, SpilledField> | null;
}

/** One event at its place, by the seq of its record. */
export interface PlacedEvent {
  cursor: EventCursor;
  eventSeq: Seq;
  /** null while it waits. */
  processedAt: Instant | null;
}

export interface RecordsAnswer {
  records: OpenedRecord[];
  complete: boolean;
}

export interface EventsAnswer {
  events: PlacedEvent[];
  hasMore: boolean;
  /** Every record that the events need: their own and those whose contents they show. */
  records: OpenedRecord[];
}

export interface AnswerOf {
  records: RecordsAnswer;
  pick: OpenedRecord[][];
  events: EventsAnswer;
  page: EventsPage;
  open: unknown;
}

/** A payload whose key the request did not bring. */
export class MissingKey extends Error {
  override readonly name = 'MissingKey';
  readonly streamId: StreamId;
  readonly keyId: KeyId;
  constructor(streamId: StreamId, keyId: KeyId) {
    super(`no data key ${keyId} of ${streamId} at hand`);
    this.streamId = streamId;
    this.keyId = keyId;
  }
}

/** Fields in the blob store that the request did not bring. */
export class MissingBlobs extends Error {
  override readonly name = 'MissingBlobs';
  readonly blobKeys: readonly string[];
  constructor(blobKeys: readonly string[]) {
    super(`${blobKeys.length} fields in the blob store are not at hand`);
    this.blobKeys = blobKeys;
  }
}

/** Answers requests; `close` waits for nothing and lets open requests fail. */
export interface Reads {
  read<R extends ReadRequest>(request: R): Promise<AnswerOf[R['kind']]>;
  close(): Promise<void>;
}
