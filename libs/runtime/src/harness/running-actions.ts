/**
 * What a turn has running: model streams and tool calls, by the id of the event that asked for them. It starts what is
 * wanted and missing, aborts what is no longer wanted, and hands every outcome to the loop.
 */
import type { Action, Knowledge, Outcome } from '@manyhands/core';
import { costOf, turnOf } from '@manyhands/core';
import type { EventId } from '@manyhands/protocol';
import { callModel, limitsOf } from './call-model.ts';
import type { HarnessDeps } from './deps.ts';
import { executeTool } from './execute-tool.ts';
import type { OpenHands } from './hands.ts';
import type { HeldSession } from './held-session.ts';
import { Previews } from './previews.ts';

export type ActionResult =
  { kind: 'outcome'; outcome: Outcome } | { kind: 'fenced' } | { kind: 'failed'; error: unknown };

interface Running {
  action: Action;
  controller: AbortController;
  previews: Previews | null;
}

export class RunningActions {
  readonly #deps: HarnessDeps;
  readonly #held: HeldSession;
  readonly #hands: OpenHands;
  readonly #newId: () => EventId;
  readonly #report: (result: ActionResult) => void;
  readonly #running = new Map<EventId, Running>();
  /** The last model stream. */
  #modelCall: { key: EventId; previews: Previews } | null = null;
  /** Done, and waiting to be written; not to be started again. */
  readonly #done = new Set<EventId>();

  constructor(
    deps: HarnessDeps,
    held: HeldSession,
    hands: OpenHands,
    newId: () => EventId,
    report: (result: ActionResult) => void,
  ) {
    this.#deps = deps;
    this.#held = held;
    this.#hands = hands;
    this.#newId = newId;
    this.#report = report;
  }

  get hasModelStream(): boolean {
    return [...this.#running.values()].some((running) => running.previews !== null);
  }

  /** What is known of a model request that is about to be cut short, or was: its end may have to be written twice. */
  get knowledge(): Knowledge {
    const usage = this.#modelCall?.previews.usage;
    const request = turnOf(this.#held.state.phase)?.request;
    if (!usage || request?.startId !== this.#modelCall?.key) return {};
    const { price } = limitsOf(this.#held.state, this.#deps);
    return { cutShort: { usage, cost: costOf(usage, price) } };
  }

  stopExcept(actions: readonly Action[]): void {
    const wanted = new Set(actions.map((action) => action.key));
    for (const [key, running] of this.#running) if (!wanted.has(key)) this.#stop(key, running, true);
    for (const key of this.#done) if (!wanted.has(key)) this.#done.delete(key);
  }

  keepOnly(actions: readonly Action[]): void {
    this.stopExcept(actions);
    for (const action of actions) {
      if (!this.#running.has(action.key) && !this.#done.has(action.key)) this.#start(action);
    }
  }

  /**
   * Ends the commands of calls that were answered while nobody held the session. Should it fail, whoever opens the hand
   * next does it.
   */
  async endAnswered(): Promise<void> {
    try {
      await this.#hands.endAnswered(() => this.#held.state);
    } catch (error) {
      this.#deps.logger.warn({ error: String(error) }, 'answered commands could not be ended');
    }
  }

  /** The outcome was written or has become void; if its action is wanted again it starts anew. */
  release(key: EventId): void {
    this.#done.delete(key);
  }

  /** Lets go of everything. Commands in a hand run on: the next holder joins them (E6). */
  abandon(): void {
    for (const [key, running] of this.#running) this.#stop(key, running, false);
  }

  #stop(key: EventId, running: Running, cancelInHand: boolean): void {
    this.#running.delete(key);
    running.controller.abort();
    running.previews?.end();
    if (!cancelInHand || running.action.kind !== 'execute-tool') return;
    this.#hands.cancel(key).catch((error: unknown) => {
      this.#deps.logger.warn({ executionId: key, error: String(error) }, 'a command could not be cancelled');
    });
  }

  #start(action: Action): void {
    const controller = new AbortController();
    const previews = action.kind === 'call-model' ? this.#newPreviews() : null;
    const running: Running = { action, controller, previews };
    if (previews) this.#modelCall = { key: action.key, previews };
    this.#running.set(action.key, running);
    this.#perform(running).then(
      (result) => this.#finish(action.key, running, result),
      (error: unknown) => this.#finish(action.key, running, { kind: 'failed', error }),
    );
  }

  #newPreviews(): Previews {
    const { state, epoch } = this.#held;
    return new Previews(this.#deps.liveBus, state.sessionId, epoch, this.#newId);
  }

  async #perform({ action, controller: { signal }, previews }: Running): Promise<ActionResult | null> {
    const held = this.#held;
    if (action.kind === 'call-model' && previews) {
      const outcome = await callModel({ held, request: action.request, previews, signal }, this.#deps);
      return outcome && { kind: 'outcome', outcome };
    }
    if (action.kind !== 'execute-tool') return null;
    const outcome = await executeTool({ held, call: action.call, hands: this.#hands, signal }, this.#deps);
    if (outcome === 'fenced') return { kind: 'fenced' };
    return outcome && { kind: 'outcome', outcome };
  }

  #finish(key: EventId, running: Running, result: ActionResult | null): void {
    if (this.#running.get(key) !== running) return; // Stopped meanwhile: nobody wants it.
    this.#running.delete(key);
    this.#done.add(key);
    if (result) this.#report(result);
  }
}

/** The action that an outcome belongs to. */
export function actionKeyOf(outcome: Outcome): EventId {
  return 'startId' in outcome ? outcome.startId : outcome.toolUseId;
}
