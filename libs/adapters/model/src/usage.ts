import type Anthropic from '@anthropic-ai/sdk';
import type { TokenUsage } from '@manyhands/protocol';

export const noUsage: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadInputTokens: 0,
  cacheCreation5mInputTokens: 0,
  cacheCreation1hInputTokens: 0,
};

/** What `message_start` tells. A provider that does not split cache writes by lifetime writes for five minutes. */
export function usageAtStart(usage: Anthropic.Usage): TokenUsage {
  const written = usage.cache_creation_input_tokens ?? 0;
  const for1h = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadInputTokens: usage.cache_read_input_tokens ?? 0,
    cacheCreation5mInputTokens: Math.max(0, written - for1h),
    cacheCreation1hInputTokens: for1h,
  };
}

/** `message_delta` tells totals, and may leave out those that did not change since the start. */
export function usageAtEnd(start: TokenUsage, usage: Anthropic.MessageDeltaUsage): TokenUsage {
  const written = usage.cache_creation_input_tokens ?? null;
  const for1h = start.cacheCreation1hInputTokens;
  return {
    inputTokens: usage.input_tokens ?? start.inputTokens,
    outputTokens: usage.output_tokens,
    cacheReadInputTokens: usage.cache_read_input_tokens ?? start.cacheReadInputTokens,
    cacheCreation5mInputTokens: written === null ? start.cacheCreation5mInputTokens : Math.max(0, written - for1h),
    cacheCreation1hInputTokens: for1h,
  };
}
