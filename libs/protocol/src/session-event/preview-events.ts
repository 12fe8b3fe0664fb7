/**
 * Previews of a message while the model writes it: only on streams that asked for them, never stored, without `id` and
 * `processed_at` of their own.
 */
import { z } from 'zod';

import { textBlockSchema } from './content-blocks.ts';

export const previewableEventTypes = ['agent.message', 'agent.thinking'] as const;
export type PreviewableEventType = (typeof previewableEventTypes)[number];

/** The id is the one the whole event will carry. Thinking has a start and no deltas. */
export const startEventSchema = z.object({
  type: z.literal('event_start'),
  event: z.object({ type: z.enum(previewableEventTypes), id: z.string() }),
});
export type StartEvent = z.infer<typeof startEventSchema>;

/** The deltas of one `(event_id, index)` are a contiguous prefix of that block's text; an absent index is 0. */
export const deltaEventSchema = z.object({
  type: z.literal('event_delta'),
  event_id: z.string(),
  delta: z.object({ type: z.literal('content_delta'), index: z.int().min(0).optional(), content: textBlockSchema }),
});
export type DeltaEvent = z.infer<typeof deltaEventSchema>;
