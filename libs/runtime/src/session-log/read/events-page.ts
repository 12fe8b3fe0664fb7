/** A page of events as bytes: rendered and written out in the thread that read it, for both cost more than the reading. */
import type { EventsPage } from '@manyhands/ports';
import type { LogRecord, Seq } from '@manyhands/protocol';
import { renderPlaced } from '../render/placed-events.ts';
import { openBytes, sealContext } from '../seal.ts';
import { MissingBlobs, type EventsAnswer, type OpenedRecord, type PageRequest } from './read-request.ts';

/** Throws `MissingBlobs` with all that the page needs and the request does not hold. */
export function eventsPage(request: PageRequest, { events, records, hasMore }: EventsAnswer): EventsPage {
  const missing = records.flatMap(blobKeysOf).filter((key) => !request.blobs.has(key));
  if (missing.length > 0) throw new MissingBlobs(missing);
  const whole = new Map(records.map((opened) => [opened.record.seq, wholeRecord(opened, request)] as [Seq, LogRecord]));
  const rendered = renderPlaced(events, whole, request.agentName);
  const json = JSON.stringify(rendered.map(({ event }) => event));
  const positions = rendered.map(({ cursor, processedAt }) => ({ cursor, processedAt }));
  return { json: new TextEncoder().encode(json), positions, hasMore };
}

function blobKeysOf({ spilled }: OpenedRecord): string[] {
  return Object.values(spilled ?? {}).map(({ key }) => key);
}

function wholeRecord({ record, keyId, payload, spilled }: OpenedRecord, request: PageRequest): LogRecord {
  const { streamId } = request;
  const whole: Record<string, unknown> = { ...payload };
  const key = keyId === null ? undefined : request.keys.get(keyId);
  for (const [field, { key: blobKey }] of Object.entries(spilled ?? {})) {
    const sealed = request.blobs.get(blobKey) as Uint8Array;
    // The payload beside it was opened with this key.
    const plain = openBytes(sealed, key as Uint8Array, sealContext(streamId, record.id, field));
    whole[field] = JSON.parse(plain.toString('utf8')) as unknown;
  }
  return { ...record, streamId, payload: payload && whole } as LogRecord;
}
