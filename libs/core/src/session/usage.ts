/** Tokens, time and money of a session. */
import type { Instant, Microcents, TokenUsage, UsageTotals } from '@manyhands/protocol';
import type { SessionState } from './state.ts';

export const noTokens: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadInputTokens: 0,
  cacheCreation5mInputTokens: 0,
  cacheCreation1hInputTokens: 0,
};

export const noUsage: UsageTotals = { ...noTokens, webSearchRequests: 0, activeMs: 0, cost: 0 as Microcents };

export const microcentsPerCent = 1_000_000;

/** Running time costs 8 cents an hour at list price. */
const microcentsPerRunningMs = (8 * microcentsPerCent) / 3_600_000;

/** Microcents per token. */
export interface TokenPrice {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
}

/** List cost of a request's tokens; nothing for a model without a price. */
export function costOf(usage: TokenUsage, price: TokenPrice | null): Microcents {
  if (!price) return 0 as Microcents;
  return Math.round(
    usage.inputTokens * price.input +
      usage.outputTokens * price.output +
      usage.cacheReadInputTokens * price.cacheRead +
      usage.cacheCreation5mInputTokens * price.cacheWrite5m +
      usage.cacheCreation1hInputTokens * price.cacheWrite1h,
  ) as Microcents;
}

export function addTokens(totals: UsageTotals, usage: TokenUsage, cost: Microcents): UsageTotals {
  return {
    ...totals,
    inputTokens: totals.inputTokens + usage.inputTokens,
    outputTokens: totals.outputTokens + usage.outputTokens,
    cacheReadInputTokens: totals.cacheReadInputTokens + usage.cacheReadInputTokens,
    cacheCreation5mInputTokens: totals.cacheCreation5mInputTokens + usage.cacheCreation5mInputTokens,
    cacheCreation1hInputTokens: totals.cacheCreation1hInputTokens + usage.cacheCreation1hInputTokens,
    cost: (totals.cost + cost) as Microcents,
  };
}

/** The totals with the running time up to `now`. */
export function usageAt(state: SessionState, now: Instant): UsageTotals {
  if (state.runningSince === null) return state.usage;
  const elapsedMs = Math.max(0, now - state.runningSince);
  return {
    ...state.usage,
    activeMs: state.usage.activeMs + elapsedMs,
    cost: (state.usage.cost + Math.round(elapsedMs * microcentsPerRunningMs)) as Microcents,
  };
}

/** Whether the session's list cost has reached its cap; exact, not rounded. */
export function isBudgetReached(state: SessionState, now: Instant): boolean {
  return state.budgetCents !== null && usageAt(state, now).cost >= state.budgetCents * microcentsPerCent;
}
