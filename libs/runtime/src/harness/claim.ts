/** H1, H2. Takes a session in one commit, or says why not. */
import { callsInHand, claimRecords, runnableOf } from '@manyhands/core';
import type { SessionState } from '@manyhands/core';
import type { Epoch, EventId, Incarnation, SessionId } from '@manyhands/protocol';
import { sessionStream } from '@manyhands/protocol';
import { limitsOf } from './call-model.ts';
import type { HarnessDeps } from './deps.ts';
import type { LeaseFacts, OpenHands } from './hands.ts';
import { HeldSession, foldAccepted } from './held-session.ts';

export type Claim =
  | { kind: 'held'; held: HeldSession; hands: OpenHands; inherited: Inherited }
  /** Nothing to do, not yet due, or somebody else has it. */
  | { kind: 'not-wanted' };

/** What an earlier holder may have under way in the hand. */
export interface Inherited {
  calls: ReadonlySet<EventId>;
  /** Whether the claim itself answered some of them. */
  answered: boolean;
}

/** Claims that lose to others look again this often before they leave it to the sweep. */
const maxTries = 5;

export async function claim(sessionId: SessionId, deps: HarnessDeps, newId: () => EventId): Promise<Claim> {
  for (let tries = 0; tries < maxTries; tries++) {
    const state = await deps.log.getState(sessionId);
    if (!state || !mayClaim(state, deps)) return { kind: 'not-wanted' };
    const plan = claimRecords(state, deps.workers.self, limitsOf(state, deps), deps.clock.now(), newId);
    const epoch = (state.epoch + 1) as Epoch;
    const inherited = inheritedBy(plan.state, state);
    const hands = deps.hands.open(leaseFacts(state, epoch, deps));
    if (inherited.answered) await fenceOff(hands, state, deps);
    const prompt = deps.prompts.take(sessionId);
    // The records that the prompt needs are read while the claim is on its way.
    const [result] = await Promise.all([
      deps.log.append({
        sessionId,
        workspaceId: state.workspaceId,
        epoch,
        expectedSeq: state.seq,
        records: plan.records,
      }),
      prompt.catchUp(deps.log, state),
    ]);
    if (result.kind === 'conflict') continue;
    deps.counters.claims++;
    if (state.lease) deps.counters.takeovers++;
    const folded = foldAccepted(state, plan.records, result.firstSeq, result.time);
    for (const record of folded.records) prompt.add(record);
    return { kind: 'held', held: new HeldSession(folded.state, prompt, deps.log), hands, inherited };
  }
  return { kind: 'not-wanted' };
}

/**
 * Fences the hand before calls in it are answered. Whatever is wrong with a hand, a command may have made it so: it keeps
 * nobody from the session. Should it live on, whoever opens it next ends what runs there for nobody.
 */
export async function fenceOff(hands: OpenHands, state: SessionState, { logger }: HarnessDeps): Promise<void> {
  try {
    await hands.fence(state);
  } catch (error) {
    logger.warn({ sessionId: state.sessionId, error: String(error) }, 'a hand could not be fenced');
  }
}

/** What the log says of a lease, as it is asked when a hand is lost. `before`: the state that the claim stands on. */
function leaseFacts(before: SessionState, epoch: Epoch, { log }: HarnessDeps): LeaseFacts {
  const { sessionId } = before;
  return {
    epoch,
    isOver: async () => ((await log.getState(sessionId))?.epoch ?? epoch) > epoch,
    mayHaveBegun: async (executionId) => {
      const call = callsInHand(before).find(({ eventId }) => eventId === executionId);
      if (!call || before.lease) return call !== undefined;
      // Who let the session go had nothing running that was allowed only afterwards.
      const slice = { kinds: ['lease.released' as const], order: 'desc' as const, limit: 1, upTo: before.seq };
      const [released] = (await log.getEvents(sessionStream(sessionId), slice)).records;
      return released !== undefined && (call.confirmation?.seq ?? call.seq) < released.seq;
    },
  };
}

function inheritedBy(claimed: SessionState, before: SessionState): Inherited {
  const calls = callsInHand(before).map((call) => call.eventId);
  const open = new Set(callsInHand(claimed).map((call) => call.eventId));
  return { calls: new Set(calls), answered: calls.some((call) => !open.has(call)) };
}

function mayClaim(state: SessionState, deps: HarnessDeps): boolean {
  const runnable = runnableOf(state, deps.settings.takeover);
  if (!runnable || runnable.notBefore > deps.clock.now()) return false;
  return runnable.holder === null || isOver(runnable.holder, deps);
}

/** A lease of our own that we do not run is one that we forgot. */
function isOver(holder: Incarnation, deps: HarnessDeps): boolean {
  return holder === deps.workers.self || deps.workers.isDead(holder);
}
