/** What a worker needs from outside, and what its operator may set. */
import type {
  ContextPolicy,
  Knowledge,
  Outcome,
  Plan,
  SessionState,
  Step,
  TakeoverLimits,
  ToolAvailability,
  TurnLimits,
} from '@manyhands/core';
import { defaultTakeoverLimits } from '@manyhands/core';
import type {
  Clock,
  LiveBus,
  Logger,
  Model,
  ModelProfile,
  SessionLog,
  WebFetch,
  WebSearch,
  Workers,
} from '@manyhands/ports';
import type { EventId, Instant } from '@manyhands/protocol';
import type { HandsOfSession } from './hands.ts';
import type { PromptCache } from './prompt-records.ts';

/** The replaceable harness: two pure functions over one state. */
export interface HarnessFunctions {
  nextStep(state: SessionState, limits: TurnLimits, now: Instant, newId: () => EventId, knowledge?: Knowledge): Step;
  settle(state: SessionState, outcome: Outcome, limits: TurnLimits, now: Instant, newId: () => EventId): Plan;
}

export interface HarnessDeps {
  log: SessionLog;
  workers: Workers;
  model: Model;
  profileOf: (model: string) => ModelProfile;
  harness: HarnessFunctions;
  contextPolicy: ContextPolicy;
  prompts: PromptCache;
  hands: HandsOfSession;
  webFetch: WebFetch;
  /** null: the tool is not offered. */
  webSearch: WebSearch | null;
  liveBus: LiveBus;
  clock: Clock;
  logger: Logger;
  settings: HarnessSettings;
  counters: HarnessCounters;
}

export interface HarnessSettings {
  /** Sessions that this worker runs at once. */
  maxSessions: number;
  /** How often the sweep looks for forgotten sessions, in milliseconds; jittered by a fifth. */
  sweepIntervalMs: number;
  takeover: TakeoverLimits;
  maxModelFailures: number;
  maxOutputTokens: number;
}

export const defaultHarnessSettings: HarnessSettings = {
  maxSessions: 1_000,
  sweepIntervalMs: 1_000,
  takeover: defaultTakeoverLimits,
  maxModelFailures: 8,
  maxOutputTokens: 32_000,
};

/** Counted since the start; shown as metrics. */
export interface HarnessCounters {
  claims: number;
  takeovers: number;
  fenced: number;
  turnsAbandoned: number;
  modelRequests: number;
  modelFailures: number;
  /** Uncached, written to and read from the provider's cache together. */
  inputTokens: number;
  outputTokens: number;
  toolCalls: number;
  handsLost: number;
}

export function newHarnessCounters(): HarnessCounters {
  return {
    claims: 0,
    takeovers: 0,
    fenced: 0,
    turnsAbandoned: 0,
    modelRequests: 0,
    modelFailures: 0,
    inputTokens: 0,
    outputTokens: 0,
    toolCalls: 0,
    handsLost: 0,
  };
}

export function availableTools(deps: Pick<HarnessDeps, 'webSearch'>): ToolAvailability {
  return { webSearch: deps.webSearch !== null };
}
