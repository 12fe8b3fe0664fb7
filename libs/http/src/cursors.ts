/**
 * Cursors of lists: base64url of a short JSON text, opaque to clients. Each names its list, its order and a position by
 * what is listed (creation, version, place in a session), never by an offset, so it survives whatever is added meanwhile.
 */
import type { EventCursor, ListCursor, TimeFilter } from '@manyhands/ports';
import type { Instant } from '@manyhands/protocol';
import { z } from 'zod';

import { ApiError } from './api-error.ts';

type Order = 'asc' | 'desc';

const order = z.enum(['asc', 'desc']);
const count = z.int().min(0);

/** `c`: created at. `i`: id. `b`: the page before this position, not after it. */
const createdCursor = z.strictObject({ l: z.string(), o: order, c: count, i: z.string(), b: z.literal(1).optional() });
/** `t`: when the event was processed; null while it waits. */
const placeCursor = z.strictObject({ l: z.literal('events'), o: order, s: count, n: count, t: count.nullable() });
const versionCursor = z.strictObject({ l: z.literal('versions'), v: count });

/** A position in a list of resources, in which direction the page lies. */
export interface ResourcePosition {
  at: ListCursor;
  backwards: boolean;
}

export type ResourceList = 'agents' | 'environments' | 'sessions';

export function encodeResourceCursor(list: ResourceList, listOrder: Order, position: ResourcePosition): string {
  const { at, backwards } = position;
  return encode({ l: list, o: listOrder, c: at.createdAt, i: at.id, ...(backwards && { b: 1 }) });
}

export function decodeResourceCursor(
  text: string | undefined,
  list: ResourceList,
  listOrder: Order,
  createdAt: TimeFilter = {},
): ResourcePosition | null {
  if (text === undefined) return null;
  const { l, o, c, i, b } = decode(createdCursor, text);
  if (l !== list) throw invalid();
  checkUse(o, listOrder, c as Instant, createdAt);
  return { at: { createdAt: c as Instant, id: i }, backwards: b === 1 };
}

export function encodeEventCursor(listOrder: Order, at: EventCursor, processedAt: Instant | null): string {
  return encode({ l: 'events', o: listOrder, s: at.seq, n: at.n, t: processedAt });
}

export function decodeEventCursor(text: string | undefined, listOrder: Order, filter: TimeFilter): EventCursor | null {
  if (text === undefined) return null;
  const { o, s, n, t } = decode(placeCursor, text);
  checkUse(o, listOrder, t as Instant | null, filter);
  return { seq: s as EventCursor['seq'], n };
}

export function encodeVersionCursor(version: number): string {
  return encode({ l: 'versions', v: version });
}

export function decodeVersionCursor(text: string | undefined): number | null {
  return text === undefined ? null : decode(versionCursor, text).v;
}

function checkUse(made: Order, used: Order, at: Instant | null, filter: TimeFilter): void {
  if (made !== used) throw new ApiError('invalid_cursor', `page: this cursor was made with order=${made}`);
  if (at !== null && !isWithin(at, filter)) {
    throw new ApiError('invalid_cursor', 'page: the created_at filter excludes the position of this cursor');
  }
}

function isWithin(at: Instant, { gt, gte, lt, lte }: TimeFilter): boolean {
  return (
    (gt === undefined || at > gt) &&
    (gte === undefined || at >= gte) &&
    (lt === undefined || at < lt) &&
    (lte === undefined || at <= lte)
  );
}

function encode(cursor: object): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

function decode<S extends z.ZodType>(schema: S, text: string): z.infer<S> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    throw invalid();
  }
  const result = schema.safeParse(value);
  if (!result.success) throw invalid();
  return result.data;
}

function invalid(): ApiError {
  return new ApiError('invalid_cursor', 'page: this is no cursor of this list');
}
