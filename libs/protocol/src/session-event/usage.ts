/** Tokens, time and money as they stand on events, sessions and threads. */
import { z } from 'zod';

const countSchema = z.int().min(0);

/** Whole cents as a decimal string, so that nothing rounds; USD is the only currency. */
export const monetaryAmountSchema = z.object({ amount: z.string(), currency: z.literal('USD') });
export type MonetaryAmount = z.infer<typeof monetaryAmountSchema>;

export const budgetSchema = z.object({ type: z.literal('limit'), max_list_cost: monetaryAmountSchema });
export type Budget = z.infer<typeof budgetSchema>;

export const cacheCreationUsageSchema = z.object({
  ephemeral_5m_input_tokens: countSchema.optional(),
  ephemeral_1h_input_tokens: countSchema.optional(),
});
export type CacheCreationUsage = z.infer<typeof cacheCreationUsageSchema>;

export const serverToolUsageSchema = z.object({
  web_search_requests: countSchema.optional(),
  web_fetch_requests: countSchema.optional(),
});
export type ServerToolUsage = z.infer<typeof serverToolUsageSchema>;

/** A session's cumulative usage at one moment, as `session.usage` carries it. `input_tokens` are the uncached ones. */
export const usageSnapshotSchema = z.object({
  input_tokens: countSchema.optional(),
  output_tokens: countSchema.optional(),
  cache_read_input_tokens: countSchema.optional(),
  cache_creation: cacheCreationUsageSchema.optional(),
  active_seconds: z.number().min(0).optional(),
  list_cost: monetaryAmountSchema.optional(),
  server_tool_use: serverToolUsageSchema.optional(),
});
export type UsageSnapshot = z.infer<typeof usageSnapshotSchema>;

/** Usage on a session or thread object: the snapshot, where cost and server tools may also be null. */
export const usageSchema = usageSnapshotSchema.extend({
  list_cost: monetaryAmountSchema.nullish(),
  server_tool_use: serverToolUsageSchema.nullish(),
});
export type Usage = z.infer<typeof usageSchema>;

/** Usage of one model request. */
export const modelUsageSchema = z.object({
  input_tokens: countSchema,
  output_tokens: countSchema,
  cache_read_input_tokens: countSchema,
  cache_creation_input_tokens: countSchema,
  speed: z.enum(['standard', 'fast']).nullish(),
});
export type ModelUsage = z.infer<typeof modelUsageSchema>;
