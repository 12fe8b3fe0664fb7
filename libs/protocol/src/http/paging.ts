/**
 * Lists: query strings in, pages out. A raw query is what a parser of query strings makes of it, with bracket names as
 * keys (`statuses[]`, `created_at[gte]`) and a list where a name is repeated. Names we do not know are ignored; old SDKs
 * send `beta=true`.
 */
import { z } from 'zod';

import { listableEventTypes } from '../session-event.ts';
import { previewableEventTypes } from '../session-event/preview-events.ts';
import type { Instant } from '../ids.ts';

export type RawQuery = Record<string, string | string[] | undefined>;

/** Page form A. SDKs go on while `next_page` is not null, even if `data` is empty. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), next_page: z.string().nullable() });
}
export interface Page<T> {
  data: T[];
  next_page: string | null;
}

/** Page form B, of the session list alone: `prev_page` is null on the first page. */
export function bidirectionalPageOf<T extends z.ZodType>(item: T) {
  return pageOf(item).extend({ prev_page: z.string().nullable() });
}
export interface BidirectionalPage<T> extends Page<T> {
  prev_page: string | null;
}

const integer = (message: string) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, message)
    .transform(Number);

function limit(standard: number, max: number) {
  const message = `must be 1 to ${max}`;
  return integer(message)
    .refine((value) => value >= 1 && value <= max, message)
    .default(standard);
}

/** A cursor of an earlier page; SDKs write a null one as an empty string. */
const page = z
  .string()
  .transform((cursor) => (cursor === '' ? undefined : cursor))
  .optional();

const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .default(false);

const order = z.enum(['asc', 'desc']);

/** A list where the query has one value or several. */
function several<T extends z.ZodType>(item: T) {
  return z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item)).optional();
}

const rfc3339 = /^(\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2})(?:\.(\d{1,3})(\d*))?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * A time, in whole milliseconds like those of our records. Finer fractions round so that a comparison with whole
 * milliseconds gives the same answer: up for `gte` and `lt`, down for `gt` and `lte`.
 */
function time(rounding: 'up' | 'down') {
  return z.string().transform((text, ctx): Instant => {
    const [, seconds = '', fraction = '', rest = '', zone = ''] = rfc3339.exec(text) ?? [];
    const start = Date.parse(`${seconds.replace(/[t ]/, 'T')}${zone.toUpperCase()}`);
    if (Number.isNaN(start)) {
      ctx.addIssue({ code: 'custom', message: 'must be an RFC 3339 time such as 2026-01-31T12:00:00Z' });
      return z.NEVER;
    }
    const up = rounding === 'up' && /[1-9]/.test(rest) ? 1 : 0;
    return (start + Number(fraction.padEnd(3, '0')) + up) as Instant;
  });
}

const times = z.object({
  gt: time('down').optional(),
  gte: time('up').optional(),
  lt: time('up').optional(),
  lte: time('down').optional(),
});
const createdAt = times.default({});
export type TimeFilter = z.infer<typeof times>;

/** `name[]` and `name[op]` become fields that hold a list and an object. */
function unbracket(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null) return raw;
  const query = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of Object.entries(raw as RawQuery)) {
    const [, name, operator] = /^([a-z_]+)\[([a-z]*)\]$/.exec(key) ?? [];
    if (name === undefined) query[key] = value;
    else if (operator === '') query[name] = Array.isArray(value) ? value : [value];
    else query[name] = { ...(query[name] as object | undefined), [operator as string]: value };
  }
  return query;
}

function query<S extends z.ZodRawShape>(shape: S) {
  return z.preprocess(unbracket, z.object(shape));
}

const ofResources = { limit: limit(20, 100), page };
const sessionStatus = z.enum(['idle', 'running', 'rescheduling', 'terminated']);

export const listAgentsQuerySchema = query({
  ...ofResources,
  include_archived: flag,
  created_at: times.pick({ gte: true, lte: true }).default({}),
});
export type ListAgentsQuery = z.infer<typeof listAgentsQuerySchema>;

export const listAgentVersionsQuerySchema = query(ofResources);
export type ListAgentVersionsQuery = z.infer<typeof listAgentVersionsQuerySchema>;

/** An absent version means the latest. */
export const getAgentQuerySchema = query({
  version: integer('must be an integer of at least 1')
    .refine((value) => value >= 1, 'must be an integer of at least 1')
    .optional(),
});
export type GetAgentQuery = z.infer<typeof getAgentQuerySchema>;

export const listEnvironmentsQuerySchema = query({ ...ofResources, include_archived: flag });
export type ListEnvironmentsQuery = z.infer<typeof listEnvironmentsQuerySchema>;

/** `agent_version` filters only together with `agent_id`. */
export const listSessionsQuerySchema = query({
  ...ofResources,
  order: order.default('desc'),
  agent_id: z.string().optional(),
  agent_version: integer('must be an integer').optional(),
  deployment_id: z.string().optional(),
  memory_store_id: z.string().optional(),
  include_archived: flag,
  statuses: several(sessionStatus),
  created_at: createdAt,
});
export type ListSessionsQuery = z.infer<typeof listSessionsQuerySchema>;

/** `created_at` compares with `processed_at`. */
export const listEventsQuerySchema = query({
  limit: limit(1000, 1000),
  page,
  order: order.default('asc'),
  types: several(z.enum(listableEventTypes)),
  created_at: createdAt,
});
export type ListEventsQuery = z.infer<typeof listEventsQuerySchema>;

export const listThreadsQuerySchema = query({ limit: limit(1000, 1000), page, statuses: several(sessionStatus) });
export type ListThreadsQuery = z.infer<typeof listThreadsQuerySchema>;

export const listThreadEventsQuerySchema = query({ limit: limit(1000, 1000), page });
export type ListThreadEventsQuery = z.infer<typeof listThreadEventsQuerySchema>;

const maxDeltas = 100;

/** What a stream previews; nothing unless it asks. */
export const streamEventsQuerySchema = query({
  event_deltas: several(z.enum(previewableEventTypes)).refine(
    (types) => types === undefined || types.length <= maxDeltas,
    `must have at most ${maxDeltas} values`,
  ),
});
export type StreamEventsQuery = z.infer<typeof streamEventsQuerySchema>;
