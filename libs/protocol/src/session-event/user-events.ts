/** The seven events a client sends, as they are stored and shown. Their request forms are in `http/events.ts`. */
import { z } from 'zod';

import { messageBlockSchema, systemContentSchema, toolResultContentSchema } from './content-blocks.ts';
import { emittedEvent, sentEvent } from './event-envelope.ts';

export const userMessageEventSchema = z.object({
  type: z.literal('user.message'),
  ...sentEvent,
  content: z.array(messageBlockSchema),
});
export type UserMessageEvent = z.infer<typeof userMessageEventSchema>;

export const userInterruptEventSchema = z.object({
  type: z.literal('user.interrupt'),
  ...sentEvent,
  /** Absent: every thread that is not archived. */
  session_thread_id: z.string().nullish(),
});
export type UserInterruptEvent = z.infer<typeof userInterruptEventSchema>;

export const userToolConfirmationEventSchema = z.object({
  type: z.literal('user.tool_confirmation'),
  ...sentEvent,
  tool_use_id: z.string(),
  result: z.enum(['allow', 'deny']),
  deny_message: z.string().nullish(),
  session_thread_id: z.string().nullish(),
});
export type UserToolConfirmationEvent = z.infer<typeof userToolConfirmationEventSchema>;

/** Processed on receipt: never queued. */
export const userCustomToolResultEventSchema = z.object({
  type: z.literal('user.custom_tool_result'),
  ...sentEvent,
  custom_tool_use_id: z.string(),
  content: z.array(toolResultContentSchema).optional(),
  is_error: z.boolean().nullish(),
  session_thread_id: z.string().nullish(),
});
export type UserCustomToolResultEvent = z.infer<typeof userCustomToolResultEventSchema>;

/** Result of a built-in tool that a worker of a self-hosted environment ran. Processed on receipt. */
export const userToolResultEventSchema = z.object({
  type: z.literal('user.tool_result'),
  ...sentEvent,
  tool_use_id: z.string(),
  content: z.array(toolResultContentSchema).optional(),
  is_error: z.boolean().nullish(),
  session_thread_id: z.string().nullish(),
});
export type UserToolResultEvent = z.infer<typeof userToolResultEventSchema>;

export const outcomeRubricSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), content: z.string() }),
  z.strictObject({ type: z.literal('file'), file_id: z.string() }),
]);
export type OutcomeRubric = z.infer<typeof outcomeRubricSchema>;

/** Processed on receipt, hence always with a time. */
export const userDefineOutcomeEventSchema = z.object({
  type: z.literal('user.define_outcome'),
  ...emittedEvent,
  outcome_id: z.string(),
  description: z.string(),
  rubric: outcomeRubricSchema,
  max_iterations: z.int().nullable(),
});
export type UserDefineOutcomeEvent = z.infer<typeof userDefineOutcomeEventSchema>;

export const systemMessageEventSchema = z.object({
  type: z.literal('system.message'),
  ...sentEvent,
  content: z.array(systemContentSchema),
});
export type SystemMessageEvent = z.infer<typeof systemMessageEventSchema>;
