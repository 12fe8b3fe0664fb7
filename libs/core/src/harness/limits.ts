import type { TokenPrice } from '../session/usage.ts';

/** What bounds a turn: settings of the operator and facts of the model, as data. */
export interface TurnLimits {
  /** null: the model has no list price. */
  price: TokenPrice | null;
  contextWindowTokens: number;
  maxOutputTokens: number;
  /** Share of the window above which older tool results are shortened, and above which the context is compacted. */
  trimAbove: number;
  compactAbove: number;
  /** Transient model failures in a row before `retries_exhausted`. */
  maxFailures: number;
  /** Compactions in a row that may fail to make room. */
  maxCompactions: number;
  takeover: TakeoverLimits;
}

/** H6: what a session may do to the workers that claim it. */
export interface TakeoverLimits {
  /** Instead of this takeover without a result the turn is given up. */
  giveUpAt: number;
  /** How long the second, and every later, takeover waits after the last lease was taken, in milliseconds. */
  secondWaitMs: number;
  laterWaitMs: number;
}

export const defaultTakeoverLimits: TakeoverLimits = { giveUpAt: 6, secondWaitMs: 5_000, laterWaitMs: 30_000 };

export const defaultTurnLimits: Omit<TurnLimits, 'price' | 'contextWindowTokens' | 'maxOutputTokens'> = {
  trimAbove: 0.6,
  compactAbove: 0.8,
  maxFailures: 8,
  maxCompactions: 2,
  takeover: defaultTakeoverLimits,
};
