/** H1, H2. Takes a session in one commit, or says why not. */
import { claimRecords, runnableOf } from '@manyhands/core';
import type { SessionState } from '@manyhands/core';
import type { Epoch, EventId, Incarnation, SessionDraft, SessionId } from '@manyhands/protocol';
import { limitsOf } from './call-model.ts';
import type { HarnessDeps } from './deps.ts';
import { HeldSession, foldAccepted } from './held-session.ts';

export type Claim =
  /** `answeredCalls`: the claim answered calls that may be running in the hand. */
  | { kind: 'held'; held: HeldSession; answeredCalls: boolean }
  /** Nothing to do, not yet due, or somebody else has it. */
  | { kind: 'not-wanted' };

/** Claims that lose to others look again this often before they leave it to the sweep. */
const maxTries = 5;

export async function claim(sessionId: SessionId, deps: HarnessDeps, newId: () => EventId): Promise<Claim> {
  for (let tries = 0; tries < maxTries; tries++) {
    const state = await deps.log.getState(sessionId);
    if (!state || !mayClaim(state, deps)) return { kind: 'not-wanted' };
    const plan = claimRecords(state, deps.workers.self, limitsOf(state, deps), deps.clock.now(), newId);
    const prompt = deps.prompts.take(sessionId);
    // The records that the prompt needs are read while the claim is on its way.
    const [result] = await Promise.all([
      deps.log.append({
        sessionId,
        workspaceId: state.workspaceId,
        epoch: (state.epoch + 1) as Epoch,
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
    const answeredCalls = plan.records.some(isAnswer);
    return { kind: 'held', held: new HeldSession(folded.state, prompt, deps.log), answeredCalls };
  }
  return { kind: 'not-wanted' };
}

function isAnswer(record: SessionDraft): boolean {
  return record.kind === 'agent.tool_result';
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
