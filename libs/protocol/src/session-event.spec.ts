import { describe, expect, it } from 'vitest';

import { listableEventTypes, persistedEventTypes, sessionEventSchema, streamedEventSchema } from './session-event.ts';

const at = '2026-01-31T12:00:00.000Z';

describe('session events', () => {
  it('are 42 that are stored, 41 of them listable, and 2 on streams only', () => {
    expect(new Set(persistedEventTypes).size).toBe(42);
    expect(persistedEventTypes.filter((type) => !(listableEventTypes as readonly string[]).includes(type))).toEqual([
      'session.deleted',
    ]);
    expect(sessionEventSchema.options).toHaveLength(42);
    expect(streamedEventSchema.options).toHaveLength(44);
  });

  it.each([
    { type: 'user.message', id: 'sevt_1', processed_at: null, content: [{ type: 'text', text: 'hi' }] },
    { type: 'user.interrupt', id: 'sevt_1' },
    {
      type: 'agent.tool_use',
      id: 'sevt_1',
      processed_at: at,
      name: 'bash',
      input: { command: 'ls' },
      evaluated_permission: 'deny',
      evaluation: { type: 'auto', evaluated_permission: { type: 'deny', reason_code: 'high_risk' } },
    },
    {
      type: 'session.status_idle',
      id: 'sevt_1',
      processed_at: at,
      stop_reason: { type: 'requires_action', event_ids: ['sevt_0'] },
      stop_details: null,
    },
    {
      type: 'session.error',
      id: 'sevt_1',
      processed_at: at,
      error: {
        type: 'repository_clone_error',
        message: 'no',
        repository_url: null,
        retry_status: { type: 'retrying' },
      },
    },
    { type: 'session.updated', id: 'sevt_1', processed_at: at, budget: null },
  ])('keep every field of $type', (event) => {
    expect(sessionEventSchema.parse(event)).toEqual(event);
  });

  it('that the server emits have a time', () => {
    const event = { type: 'agent.thinking', id: 'sevt_1', processed_at: null };
    expect(sessionEventSchema.safeParse(event).success).toBe(false);
  });

  it('keep stream-only events out of what is stored', () => {
    const start = { type: 'event_start', event: { type: 'agent.message', id: 'sevt_1' } };
    expect(streamedEventSchema.parse(start)).toEqual(start);
    expect(sessionEventSchema.safeParse(start).success).toBe(false);
  });
});
