/** Threads of a session. Every session has a primary one, without a parent. */
import { z } from 'zod';

import { usageSchema } from '../session-event/usage.ts';
import { advisorSchema } from './multiagent.ts';
import { pageOf } from './paging.ts';
import { inlineAgentSchema, threadAgentSchema } from './session-agent.ts';

/** `startup_seconds` is 0 for child threads. */
export const threadStatsSchema = z.object({
  active_seconds: z.number().optional(),
  duration_seconds: z.number().optional(),
  startup_seconds: z.number().optional(),
});
export type ThreadStats = z.infer<typeof threadStatsSchema>;

/** `stats` are null until the first change of status, `usage` until the first idle. */
export const sessionThreadSchema = z.object({
  type: z.literal('session_thread'),
  id: z.string(),
  session_id: z.string(),
  parent_thread_id: z.string().nullable(),
  agent: z.discriminatedUnion('type', [threadAgentSchema, advisorSchema, inlineAgentSchema]),
  status: z.enum(['idle', 'running', 'rescheduling', 'terminated']),
  stats: threadStatsSchema.nullable(),
  usage: usageSchema.nullable(),
  workflow_run_id: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  archived_at: z.string().nullable(),
});
export type SessionThread = z.infer<typeof sessionThreadSchema>;

export const sessionThreadPageSchema = pageOf(sessionThreadSchema);
export type SessionThreadPage = z.infer<typeof sessionThreadPageSchema>;
