/**
 * One run of the harness for one session: claim, then step until the lease is released.
 *
 * - It keeps nothing that matters between two commits (H1): whatever it knows beside the log may be lost.
 * - A conflict with a higher epoch ends it in silence (L3): another holder has the session.
 * - Outcomes that could not be written because of a conflict are settled again on the state after it.
 */
import type { Outcome, SessionState, Step } from '@manyhands/core';
import { Plan, actionsOf, addRelease, callsInHand, closeRequest } from '@manyhands/core';
import type { EventId, LogRecord, SessionDraft, SessionId } from '@manyhands/protocol';
import { formatId, sessionStream } from '@manyhands/protocol';
import { limitsOf } from './call-model.ts';
import type { Claim } from './claim.ts';
import { claim, fenceOff } from './claim.ts';
import type { HarnessDeps } from './deps.ts';
import type { OpenHands } from './hands.ts';
import type { Append, HeldSession } from './held-session.ts';
import type { ActionResult } from './running-actions.ts';
import { RunningActions, actionKeyOf } from './running-actions.ts';
import { Signals } from './signals.ts';

export type WakeOutcome =
  | { kind: 'not-wanted' }
  | { kind: 'released' }
  /** Somebody else has it, or the log is away: what was running here is void. */
  | { kind: 'abandoned'; reason: 'fenced' | 'tail-ended' | 'action-failed'; error?: unknown };

type Signal =
  | { kind: 'records'; records: readonly LogRecord[] }
  | { kind: 'tail-ended'; error?: unknown }
  | { kind: 'drain' }
  | ActionResult;

/** How a worker that goes down asks its sessions to stop: first gently, then at once. */
export interface Drain {
  /** No new actions; open model streams may finish. */
  readonly gentle: AbortSignal;
  /** Stop now. */
  readonly hard: AbortSignal;
}

/** `onResult` is called when a model's answer or a tool's result was committed. */
export async function wake(
  sessionId: SessionId,
  deps: HarnessDeps,
  drain: Drain,
  onResult: () => void,
): Promise<WakeOutcome> {
  const newId = (): EventId => formatId('event', deps.clock.randomBytes(16));
  const claimed = await claim(sessionId, deps, newId);
  if (claimed.kind !== 'held') return claimed;
  const turn = new TurnLoop(claimed, deps, drain, newId, onResult);
  const ending = claimed.inherited.answered ? turn.endAnswered() : null;
  try {
    const outcome = await turn.run();
    await ending;
    return outcome;
  } finally {
    turn.close();
    deps.prompts.keep(sessionId, claimed.held.prompt);
  }
}

class TurnLoop {
  readonly #held: HeldSession;
  readonly #hands: OpenHands;
  /** Calls that an earlier holder may have under way in the hand. */
  readonly #inherited: ReadonlySet<EventId>;
  readonly #deps: HarnessDeps;
  readonly #drain: Drain;
  readonly #newId: () => EventId;
  readonly #onResult: () => void;
  readonly #signals = new Signals<Signal>();
  readonly #running: RunningActions;
  readonly #closing = new AbortController();
  readonly #outcomes: Outcome[] = [];

  constructor(
    claimed: Claim & { kind: 'held' },
    deps: HarnessDeps,
    drain: Drain,
    newId: () => EventId,
    onResult: () => void,
  ) {
    const { held, hands, inherited } = claimed;
    this.#held = held;
    this.#hands = hands;
    this.#inherited = inherited.calls;
    this.#deps = deps;
    this.#drain = drain;
    this.#newId = newId;
    this.#onResult = onResult;
    this.#running = new RunningActions(deps, held, hands, newId, (result) => this.#signals.push(result));
  }

  async run(): Promise<WakeOutcome> {
    this.#watch();
    for (;;) {
      if (this.#held.isFenced) return this.#abandon('fenced');
      const written = await this.#writeOutcomes();
      if (written === 'fenced') return this.#abandon('fenced');
      if (written === 'written') {
        const step = this.#nextStep();
        if (step.kind === 'finish') return { kind: 'released' };
        const done = await this.#take(step);
        if (done === 'again') continue;
        if (done) return done;
      }
      const over = this.#receive(await this.#signals.next());
      if (over) return over;
    }
  }

  endAnswered(): Promise<void> {
    return this.#running.endAnswered();
  }

  /** Tools, streams and the tail end with the loop; commands in a hand run on. */
  close(): void {
    this.#running.abandon();
    this.#closing.abort();
  }

  #nextStep(): Step {
    const { state } = this.#held;
    return this.#deps.harness.nextStep(
      state,
      limitsOf(state, this.#deps),
      this.#deps.clock.now(),
      this.#newId,
      this.#running.knowledge,
    );
  }

  /** `again`: look at the new state; null: wait for a signal. */
  async #take(step: Exclude<Step, { kind: 'finish' }>): Promise<WakeOutcome | 'again' | null> {
    if (step.kind === 'append') {
      this.#running.stopExcept(actionsOf(step.state)); // What an interrupt ends, ends at once.
      return this.#afterAppend(await this.#append(step.records, step.state));
    }
    if (!this.#drain.gentle.aborted) {
      this.#running.keepOnly(step.actions);
      return null;
    }
    if (this.#running.hasModelStream && !this.#drain.hard.aborted) return null;
    return this.#letGo();
  }

  #afterAppend(append: Append): WakeOutcome | 'again' | null {
    if (append.kind === 'fenced') return this.#abandon('fenced');
    return append.kind === 'accepted' ? 'again' : null;
  }

  /** H5: what is cut gets its end, and the lease is free for the next worker. */
  async #letGo(): Promise<WakeOutcome | 'again' | null> {
    const { cutShort } = this.#running.knowledge;
    const plan = new Plan(this.#held.state, this.#deps.clock.now(), this.#newId);
    closeRequest(plan, cutShort ?? null);
    addRelease(plan);
    this.#running.abandon();
    const append = await this.#held.append(plan.records);
    return append.kind === 'accepted' ? { kind: 'released' } : this.#afterAppend(append);
  }

  /** Settles what came back. `blocked`: a record that we have not folded yet stands before it. */
  async #writeOutcomes(): Promise<'written' | 'blocked' | 'fenced'> {
    for (;;) {
      const outcome = this.#outcomes[0];
      if (!outcome) return 'written';
      const { state } = this.#held;
      const plan = this.#deps.harness.settle(
        state,
        outcome,
        limitsOf(state, this.#deps),
        this.#deps.clock.now(),
        this.#newId,
      );
      if (plan.records.length > 0) {
        const append = await this.#append(plan.records, plan.state);
        if (append.kind === 'fenced') return 'fenced';
        if (append.kind === 'conflict') return 'blocked';
      }
      this.#outcomes.shift();
      this.#running.release(actionKeyOf(outcome));
      if (isResult(outcome)) this.#onResult();
    }
  }

  /** What an earlier holder may still start is fenced off before the log says that it was answered (H2). */
  async #append(records: readonly SessionDraft[], after: SessionState): Promise<Append> {
    const { state } = this.#held;
    const open = new Set(callsInHand(after).map((call) => call.eventId));
    const answered = callsInHand(state).filter((call) => !open.has(call.eventId));
    if (answered.some((call) => this.#inherited.has(call.eventId))) await fenceOff(this.#hands, state, this.#deps);
    return this.#held.append(records);
  }

  #receive(signal: Signal): WakeOutcome | null {
    switch (signal.kind) {
      case 'records':
        this.#held.foldTail(signal.records);
        return null;
      case 'outcome':
        this.#outcomes.push(signal.outcome);
        return null;
      case 'drain':
        return null;
      case 'fenced':
        return this.#abandon('fenced');
      case 'tail-ended':
        return this.#abandon('tail-ended', signal.error);
      case 'failed':
        return this.#abandon('action-failed', signal.error);
    }
  }

  #abandon(reason: 'fenced' | 'tail-ended' | 'action-failed', error?: unknown): WakeOutcome {
    if (reason === 'fenced') this.#deps.counters.fenced++;
    this.#deps.counters.turnsAbandoned++;
    return error === undefined ? { kind: 'abandoned', reason } : { kind: 'abandoned', reason, error };
  }

  #watch(): void {
    for (const signal of [this.#drain.gentle, this.#drain.hard]) {
      if (signal.aborted) this.#signals.push({ kind: 'drain' });
      else
        signal.addEventListener('abort', () => this.#signals.push({ kind: 'drain' }), { signal: this.#closing.signal });
    }
    void this.#followTail();
  }

  async #followTail(): Promise<void> {
    const { sessionId, seq } = this.#held.state;
    try {
      const tail = this.#deps.log.tail(sessionStream(sessionId), seq, this.#closing.signal);
      for await (const records of tail) this.#signals.push({ kind: 'records', records });
      this.#signals.push({ kind: 'tail-ended' });
    } catch (error) {
      this.#signals.push({ kind: 'tail-ended', error });
    }
  }
}

function isResult(outcome: Outcome): boolean {
  return outcome.type === 'responded' || outcome.type === 'compacted' || outcome.type === 'tool-answered';
}
