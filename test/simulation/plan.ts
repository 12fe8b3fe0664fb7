/** What one run is like, drawn from its seed. */
import { defaultTakeoverLimits } from '@manyhands/core';
import type { TakeoverLimits } from '@manyhands/core';
import type { Chance } from './chance.ts';
import type { TopicFaults } from './sim-topic.ts';
import { noTopicFaults } from './sim-topic.ts';

export interface RunPlan {
  nodes: number;
  sessions: number;
  partitions: number;
  topicFaults: TopicFaults;
  /** Faults of processes and hands, after which the clients play on undisturbed. */
  faults: number;
  /** Mean time between two of them, in milliseconds. */
  faultEveryMs: number;
  lostWakes: number;
  /** Share of a worker's calls that go to another node's replica. */
  farCalls: number;
  modelFailures: number;
  unreachableHands: number;
  contextWindowTokens: number;
  takeover: TakeoverLimits;
  maxModelFailures: number;
  /** Whether a turn may be given up: by rule its script need not be played to the end then. */
  mayGiveUp: boolean;
}

/** Nothing goes wrong and nobody plays: for stories that are told step by step. */
export const calm: Partial<RunPlan> = {
  sessions: 0,
  partitions: 1,
  topicFaults: noTopicFaults,
  faults: 0,
  lostWakes: 0,
  farCalls: 0,
  modelFailures: 0,
  unreachableHands: 0,
  contextWindowTokens: 1_000_000,
};

export function planFrom(chance: Chance): RunPlan {
  const mayGiveUp = chance.happens(0.15);
  const rate = (high: number): number => (chance.happens(0.5) ? 0 : chance.number() * high);
  return {
    nodes: chance.between(1, 3),
    sessions: chance.between(1, 3),
    partitions: chance.between(1, 2),
    topicFaults: {
      unavailable: rate(0.1),
      unknownOutcome: rate(0.25),
      duplicate: rate(0.25),
      endOffsetsUnavailable: rate(0.05),
      lateDelivery: rate(0.08),
    },
    faults: chance.between(0, 25),
    faultEveryMs: chance.pick([100, 400, 1_500, 6_000]),
    lostWakes: chance.pick([0, 0.2, 1]),
    farCalls: chance.pick([0, 0, 0.3]),
    modelFailures: rate(0.2),
    unreachableHands: rate(0.1),
    contextWindowTokens: chance.happens(0.25) ? 1_500 : 1_000_000,
    takeover: { ...defaultTakeoverLimits, giveUpAt: mayGiveUp ? 2 : 1_000, secondWaitMs: 500, laterWaitMs: 2_000 },
    maxModelFailures: mayGiveUp ? 2 : 50,
    mayGiveUp,
  };
}
