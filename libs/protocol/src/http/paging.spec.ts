import { describe, expect, it } from 'vitest';

import {
  getAgentQuerySchema,
  listAgentsQuerySchema,
  listEventsQuerySchema,
  listSessionsQuerySchema,
  listThreadsQuerySchema,
  streamEventsQuerySchema,
} from './paging.ts';
import { parseRequest } from './parse-request.ts';

const noon = Date.UTC(2026, 0, 31, 12);

describe('queries of lists', () => {
  it.each([
    ['agents', listAgentsQuerySchema, { limit: 20, include_archived: false, created_at: {} }],
    ['sessions', listSessionsQuerySchema, { limit: 20, order: 'desc', include_archived: false, created_at: {} }],
    ['events', listEventsQuerySchema, { limit: 1000, order: 'asc', created_at: {} }],
    ['threads', listThreadsQuerySchema, { limit: 1000 }],
  ])('have defaults for %s', (_, schema, expected) => {
    expect(parseRequest(schema, { beta: 'true' })).toEqual({ ok: true, value: expected });
  });

  it('read bracket names, single or repeated, and typed values', () => {
    const query = {
      limit: '5',
      page: 'cursor',
      order: 'asc',
      agent_id: 'agent_1',
      agent_version: '3',
      include_archived: 'true',
      'statuses[]': ['idle', 'running'],
      'created_at[gte]': '2026-01-31T12:00:00Z',
      'created_at[lt]': '2026-01-31T14:00:00.5+01:00',
    };
    expect(parseRequest(listSessionsQuerySchema, query)).toEqual({
      ok: true,
      value: {
        limit: 5,
        page: 'cursor',
        order: 'asc',
        agent_id: 'agent_1',
        agent_version: 3,
        include_archived: true,
        statuses: ['idle', 'running'],
        created_at: { gte: noon, lt: noon + 3_600_500 },
      },
    });
    expect(parseRequest(listEventsQuerySchema, { 'types[]': 'user.message' })).toMatchObject({
      value: { types: ['user.message'] },
    });
  });

  it('take an empty page for none, as SDKs write null', () => {
    expect(parseRequest(listThreadsQuerySchema, { page: '' })).toEqual({ ok: true, value: { limit: 1000 } });
  });

  it.each([
    ['gte', noon + 1],
    ['gt', noon],
    ['lt', noon + 1],
    ['lte', noon],
  ])('round times finer than a millisecond for %s', (operator, expected) => {
    const query = { [`created_at[${operator}]`]: '2026-01-31T12:00:00.0001Z' };
    expect(parseRequest(listEventsQuerySchema, query)).toMatchObject({
      value: { created_at: { [operator]: expected } },
    });
  });

  it.each([
    [listSessionsQuerySchema, { limit: '0' }, 'limit: must be 1 to 100'],
    [listSessionsQuerySchema, { limit: '101' }, 'limit: must be 1 to 100'],
    [listSessionsQuerySchema, { limit: '1e1' }, 'limit: must be 1 to 100'],
    [listEventsQuerySchema, { limit: '1001' }, 'limit: must be 1 to 1000'],
    [listSessionsQuerySchema, { limit: ['1', '2'] }, 'limit: must be a string'],
    [listSessionsQuerySchema, { order: 'up' }, "order: must be 'asc' or 'desc'"],
    [listSessionsQuerySchema, { include_archived: 'yes' }, "include_archived: must be 'true' or 'false'"],
    [
      listSessionsQuerySchema,
      { 'statuses[]': ['idle', 'busy'] },
      "statuses.1: must be 'idle', 'running', 'rescheduling' or 'terminated'",
    ],
    [
      listSessionsQuerySchema,
      { 'created_at[gte]': 'yesterday' },
      'created_at.gte: must be an RFC 3339 time such as 2026-01-31T12:00:00Z',
    ],
    [
      listSessionsQuerySchema,
      { 'created_at[gte]': '2026-13-31T12:00:00Z' },
      'created_at.gte: must be an RFC 3339 time such as 2026-01-31T12:00:00Z',
    ],
    [getAgentQuerySchema, { version: '0' }, 'version: must be an integer of at least 1'],
    [
      streamEventsQuerySchema,
      { 'event_deltas[]': 'agent.tool_use' },
      "event_deltas.0: must be 'agent.message' or 'agent.thinking'",
    ],
    [
      streamEventsQuerySchema,
      { 'event_deltas[]': Array.from({ length: 101 }, () => 'agent.message') },
      'event_deltas: must have at most 100 values',
    ],
  ])('refuse %#: %j', (schema, query, message) => {
    expect(parseRequest(schema, query)).toEqual({ ok: false, refusal: { code: 'invalid_request', message } });
  });

  it('refuse session.deleted as a filter', () => {
    expect(parseRequest(listEventsQuerySchema, { 'types[]': 'session.deleted' }).ok).toBe(false);
  });
});
