/** Small values as they stand on the wire. */
import { microcentsPerCent } from '@manyhands/core';
import type { Instant, Microcents, StopReasonFacet, TokenUsage, UsageTotals } from '@manyhands/protocol';
import type { Budget, ModelUsage, MonetaryAmount, StopReason, UsageSnapshot } from '@manyhands/protocol';

export function isoTime(time: Instant): string {
  return new Date(time).toISOString();
}

export function isoTimeOrNull(time: Instant | null): string | null {
  return time === null ? null : isoTime(time);
}

/** Whole cents; what is enforced is the exact figure. */
export function wireCost(cost: Microcents): MonetaryAmount {
  return { amount: String(Math.round(cost / microcentsPerCent)), currency: 'USD' };
}

export function wireBudget(cents: number | null): Budget | null {
  return cents === null ? null : { type: 'limit', max_list_cost: { amount: String(cents), currency: 'USD' } };
}

export function wireStopReason(stop: StopReasonFacet): StopReason {
  return stop.type === 'requires_action' ? { type: stop.type, event_ids: stop.eventIds } : { type: stop.type };
}

export function wireUsage(usage: UsageTotals): UsageSnapshot {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadInputTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheCreation5mInputTokens,
      ephemeral_1h_input_tokens: usage.cacheCreation1hInputTokens,
    },
    active_seconds: usage.activeMs / 1000,
    list_cost: wireCost(usage.cost),
    server_tool_use: { web_search_requests: usage.webSearchRequests, web_fetch_requests: 0 },
  };
}

export function wireModelUsage(usage: TokenUsage): ModelUsage {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadInputTokens,
    cache_creation_input_tokens: usage.cacheCreation5mInputTokens + usage.cacheCreation1hInputTokens,
  };
}
