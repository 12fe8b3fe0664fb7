/** Why a session or thread went idle. */
import { z } from 'zod';

export const stopReasonSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('end_turn') }),
  /** `event_ids` are the tool-use events that wait for the client. */
  z.object({ type: z.literal('requires_action'), event_ids: z.array(z.string()) }),
  z.object({ type: z.literal('retries_exhausted') }),
  z.object({ type: z.literal('budget_reached') }),
  z.object({ type: z.literal('refusal') }),
]);
export type StopReason = z.infer<typeof stopReasonSchema>;

/** Present for a refusal only; every other idle event has null in its place. */
export const stopDetailsSchema = z.object({
  type: z.literal('refusal'),
  category: z.enum(['cyber', 'bio', 'frontier_llm', 'reasoning_extraction', 'general_harms']).nullable(),
  explanation: z.string().nullable(),
});
export type StopDetails = z.infer<typeof stopDetailsSchema>;
