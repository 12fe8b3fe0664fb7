/** Begin and end of model requests and outcome evaluations. */
import { z } from 'zod';

import { emittedEvent } from './event-envelope.ts';
import { modelUsageSchema } from './usage.ts';

export const spanModelRequestStartEventSchema = z.object({
  type: z.literal('span.model_request_start'),
  ...emittedEvent,
});
export type SpanModelRequestStartEvent = z.infer<typeof spanModelRequestStartEventSchema>;

/** Follows the content events of its request, and comes even when the request failed or was interrupted. */
export const spanModelRequestEndEventSchema = z.object({
  type: z.literal('span.model_request_end'),
  ...emittedEvent,
  model_request_start_id: z.string(),
  is_error: z.boolean().nullable(),
  model_usage: modelUsageSchema,
});
export type SpanModelRequestEndEvent = z.infer<typeof spanModelRequestEndEventSchema>;

/** `iteration` counts from 0. */
export const spanOutcomeEvaluationStartEventSchema = z.object({
  type: z.literal('span.outcome_evaluation_start'),
  ...emittedEvent,
  outcome_id: z.string(),
  iteration: z.int(),
});
export type SpanOutcomeEvaluationStartEvent = z.infer<typeof spanOutcomeEvaluationStartEventSchema>;

export const spanOutcomeEvaluationOngoingEventSchema = z.object({
  type: z.literal('span.outcome_evaluation_ongoing'),
  ...emittedEvent,
  outcome_id: z.string(),
  iteration: z.int(),
});
export type SpanOutcomeEvaluationOngoingEvent = z.infer<typeof spanOutcomeEvaluationOngoingEventSchema>;

/** `outcome_evaluation_start_id` is empty when an interrupt came before the evaluation began. */
export const spanOutcomeEvaluationEndEventSchema = z.object({
  type: z.literal('span.outcome_evaluation_end'),
  ...emittedEvent,
  outcome_id: z.string(),
  outcome_evaluation_start_id: z.string(),
  iteration: z.int(),
  result: z.string(),
  explanation: z.string(),
  usage: modelUsageSchema,
});
export type SpanOutcomeEvaluationEndEvent = z.infer<typeof spanOutcomeEvaluationEndEventSchema>;
