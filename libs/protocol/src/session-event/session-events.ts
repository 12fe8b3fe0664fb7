/** What becomes of the session and its threads. */
import { z } from 'zod';

import { sessionAgentSchema } from '../http/session-agent.ts';
import { emittedEvent } from './event-envelope.ts';
import { sessionErrorSchema } from './session-error.ts';
import { stopDetailsSchema, stopReasonSchema } from './stop.ts';
import { budgetSchema, usageSnapshotSchema } from './usage.ts';

const ofThread = { session_thread_id: z.string(), agent_name: z.string() };
const stop = { stop_reason: stopReasonSchema, stop_details: stopDetailsSchema.nullable() };

export const sessionStatusRunningEventSchema = z.object({ type: z.literal('session.status_running'), ...emittedEvent });
export type SessionStatusRunningEvent = z.infer<typeof sessionStatusRunningEventSchema>;

/** Emitted again when some but not all blocking events were answered. */
export const sessionStatusIdleEventSchema = z.object({
  type: z.literal('session.status_idle'),
  ...emittedEvent,
  ...stop,
});
export type SessionStatusIdleEvent = z.infer<typeof sessionStatusIdleEventSchema>;

/** The event says `rescheduled`, the status it leads to is `rescheduling`. */
export const sessionStatusRescheduledEventSchema = z.object({
  type: z.literal('session.status_rescheduled'),
  ...emittedEvent,
});
export type SessionStatusRescheduledEvent = z.infer<typeof sessionStatusRescheduledEventSchema>;

export const sessionStatusTerminatedEventSchema = z.object({
  type: z.literal('session.status_terminated'),
  ...emittedEvent,
});
export type SessionStatusTerminatedEvent = z.infer<typeof sessionStatusTerminatedEventSchema>;

/** The last event of every open stream. It is no value of the list's `types[]` filter. */
export const sessionDeletedEventSchema = z.object({ type: z.literal('session.deleted'), ...emittedEvent });
export type SessionDeletedEvent = z.infer<typeof sessionDeletedEventSchema>;

/** Carries only what changed; `budget` is null when it was removed, `agent` is the full snapshot. */
export const sessionUpdatedEventSchema = z.object({
  type: z.literal('session.updated'),
  ...emittedEvent,
  agent: sessionAgentSchema.nullish(),
  budget: budgetSchema.nullish(),
  metadata: z.record(z.string(), z.string()).optional(),
  title: z.string().nullish(),
});
export type SessionUpdatedEvent = z.infer<typeof sessionUpdatedEventSchema>;

/** Stands immediately before every `session.status_idle`, and where a thread pauses at the budget. */
export const sessionUsageEventSchema = z.object({
  type: z.literal('session.usage'),
  ...emittedEvent,
  usage: usageSnapshotSchema,
  budget: budgetSchema.nullish(),
});
export type SessionUsageEvent = z.infer<typeof sessionUsageEventSchema>;

export const sessionErrorEventSchema = z.object({
  type: z.literal('session.error'),
  ...emittedEvent,
  error: sessionErrorSchema,
});
export type SessionErrorEvent = z.infer<typeof sessionErrorEventSchema>;

/** For child threads only; the primary thread has none. */
export const sessionThreadCreatedEventSchema = z.object({
  type: z.literal('session.thread_created'),
  ...emittedEvent,
  ...ofThread,
  workflow_run_id: z.string().nullable(),
});
export type SessionThreadCreatedEvent = z.infer<typeof sessionThreadCreatedEventSchema>;

/** Emitted for the primary thread too; clients take the primary's id from the first one of a session. */
export const sessionThreadStatusRunningEventSchema = z.object({
  type: z.literal('session.thread_status_running'),
  ...emittedEvent,
  ...ofThread,
});
export type SessionThreadStatusRunningEvent = z.infer<typeof sessionThreadStatusRunningEventSchema>;

export const sessionThreadStatusIdleEventSchema = z.object({
  type: z.literal('session.thread_status_idle'),
  ...emittedEvent,
  ...ofThread,
  ...stop,
});
export type SessionThreadStatusIdleEvent = z.infer<typeof sessionThreadStatusIdleEventSchema>;

export const sessionThreadStatusRescheduledEventSchema = z.object({
  type: z.literal('session.thread_status_rescheduled'),
  ...emittedEvent,
  ...ofThread,
});
export type SessionThreadStatusRescheduledEvent = z.infer<typeof sessionThreadStatusRescheduledEventSchema>;

export const sessionThreadStatusTerminatedEventSchema = z.object({
  type: z.literal('session.thread_status_terminated'),
  ...emittedEvent,
  ...ofThread,
});
export type SessionThreadStatusTerminatedEvent = z.infer<typeof sessionThreadStatusTerminatedEventSchema>;
