/**
 * The hand of a session: found, made when the first call needs it, fenced with the lease's epoch before anything else is
 * asked of it (H2), and asked for its journal before a call is given up (S4, E6).
 *
 * - A command can do all that its daemon can: answer in its place, stop it, and remove or forge its journal. So a call
 *   never began only where the platform itself never sent it (E6); that a journal is silent proves nothing.
 * - What does not answer, or not as a hand does, is ended by its provider, so that nothing of it runs on when the log says
 *   that it is lost.
 */
import type { SessionState } from '@manyhands/core';
import { openCalls } from '@manyhands/core';
import type {
  Clock,
  ExecuteRequest,
  Execution,
  Hand,
  HandAddress,
  HandConnector,
  HandRef,
  SandboxProvider,
} from '@manyhands/ports';
import { HandError, SandboxError } from '@manyhands/ports';
import type { EnvironmentSettings, Epoch, EventId } from '@manyhands/protocol';

export type HandOutcome =
  | { kind: 'finished'; ref: HandRef; execution: Execution & { state: 'finished' } }
  /** `started`: the call may have run partly; else it never began and is simply made again in a new sandbox. */
  | { kind: 'lost'; ref: HandRef; started: boolean }
  | { kind: 'fenced' }
  | { kind: 'failed'; message: string };

export interface HandsDeps {
  provider: SandboxProvider;
  connector: HandConnector;
  /** The environment as it stands now, or as the session was made with when it is gone. */
  environmentOf: (state: SessionState) => Promise<EnvironmentSettings>;
  clock: Clock;
}

/** What a lease knows of itself and of those before it. */
export interface LeaseFacts {
  epoch: Epoch;
  /** Whether a later one is in the log. */
  isOver: () => Promise<boolean>;
  /** Whether a holder before us may have sent this call to a hand. */
  mayHaveBegun: (executionId: EventId) => Promise<boolean>;
}

/** A hand that does not answer is asked again for this long, in milliseconds. */
const unreachableForMs = 30_000;
/** How long after a later holder has fenced the hand its claim is in the log, or will never be, in milliseconds. */
const claimFollowsWithinMs = 2_000;
/** The same where answers to the session wait for it. */
const unfencedForMs = 5_000;

export class HandsOfSession {
  readonly #deps: HandsDeps;

  constructor(deps: HandsDeps) {
    this.#deps = deps;
  }

  open(lease: LeaseFacts): OpenHands {
    return new OpenHands(this.#deps, lease);
  }
}

/** The hands of one session under one lease; the sandbox is asked for once, whoever needs it first. */
export class OpenHands {
  readonly #deps: HandsDeps;
  readonly #lease: LeaseFacts;
  #opening: { generation: number; hand: Promise<Hand | null> } | null = null;
  /** The generation whose fence stands at our epoch. */
  #fenced: number | null = null;
  /** Calls that we have sent; whether they arrived only the hand could tell. */
  readonly #sent = new Set<EventId>();

  constructor(deps: HandsDeps, lease: LeaseFacts) {
    this.#deps = deps;
    this.#lease = lease;
  }

  async execute(state: SessionState, request: ExecuteRequest, signal: AbortSignal): Promise<HandOutcome> {
    const ref = refOf(state);
    try {
      const execution = await this.#executeIn(state, ref, request, signal);
      return execution ? { kind: 'finished', ref, execution } : await this.#lost(ref, request.executionId);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof HandError && error.code === 'refused')
        return { kind: 'failed', message: `The sandbox did not answer: ${error.message}` };
      if (error instanceof HandError && error.code === 'fenced' && (await this.#comesToBeOver()))
        return { kind: 'fenced' };
      if (error instanceof HandError || (error instanceof SandboxError && error.code === 'gone'))
        return this.#lost(ref, request.executionId);
      if (error instanceof SandboxError) {
        this.#opening = null;
        return { kind: 'failed', message: `The sandbox could not be started: ${error.message}` };
      }
      throw error;
    }
  }

  /**
   * Ends what runs for calls that the log has answered, if there is a sandbox at all. `stateNow`: calls that were begun
   * while the hand was asked are open in it.
   */
  async endAnswered(stateNow: () => SessionState): Promise<void> {
    const ref = refOf(stateNow());
    const status = await this.#deps.provider.find(ref);
    if (status.state !== 'running') return;
    try {
      await this.#connect(ref, status.address, stateNow);
    } catch (error) {
      if (error instanceof HandError && error.code === 'lost') await this.#deps.provider.end(ref);
      throw error;
    }
  }

  /**
   * Raises the fence of a hand that lives before calls are answered that an earlier holder may have under way: what it
   * sends from now on is refused (H2). Throws when it cannot be raised.
   */
  async fence(state: SessionState): Promise<void> {
    const { clock } = this.#deps;
    const giveUpAt = clock.monotonicMs() + unfencedForMs;
    while (this.#fenced !== refOf(state).generation) {
      try {
        return await this.endAnswered(() => state);
      } catch (error) {
        const isAway = error instanceof HandError && error.code === 'unreachable';
        const isBusy = error instanceof SandboxError && error.retriable;
        if (!(isAway || isBusy) || clock.monotonicMs() > giveUpAt) throw error;
        await clock.sleep(200);
      }
    }
  }

  /** Ends the execution wherever it runs; a hand that was never opened has nothing to end. */
  async cancel(executionId: EventId): Promise<void> {
    const hand = await this.#opening?.hand;
    await hand?.cancel(this.#lease.epoch, executionId);
  }

  #hand(state: SessionState, ref: HandRef): Promise<Hand | null> {
    if (this.#opening?.generation !== ref.generation) {
      this.#opening = { generation: ref.generation, hand: this.#open(state, ref) };
      // A failed opening is seen by whoever awaits it, and the next call tries anew.
      this.#opening.hand.catch(() => (this.#opening = null));
    }
    return this.#opening.hand;
  }

  /** null: this generation has lived and is gone. */
  async #open(state: SessionState, ref: HandRef): Promise<Hand | null> {
    const known = state.hand?.generation === ref.generation;
    const status = known ? await this.#deps.provider.find(ref) : await this.#provision(state, ref);
    return status.state === 'gone' ? null : this.#connect(ref, status.address, () => state);
  }

  /** What the log has answered meanwhile, by an interrupt or by giving up, is not to run on. */
  async #connect(ref: HandRef, address: HandAddress, stateNow: () => SessionState): Promise<Hand> {
    const hand = this.#deps.connector.connect(ref, address);
    const running = await hand.fence(this.#lease.epoch);
    this.#fenced = ref.generation;
    const open = new Set(openCalls(stateNow()).map((call) => call.eventId));
    await Promise.all(running.filter((id) => !open.has(id)).map((id) => hand.cancel(this.#lease.epoch, id)));
    return hand;
  }

  /** Not aborted with the call that asked first: other calls wait for the same sandbox. */
  async #provision(state: SessionState, ref: HandRef) {
    const environment = await this.#deps.environmentOf(state);
    return this.#deps.provider.provision({ ref, environment }, new AbortController().signal);
  }

  /** null: this generation has lived and is gone. Throws when it is unreachable for too long. */
  async #executeIn(
    state: SessionState,
    ref: HandRef,
    request: ExecuteRequest,
    signal: AbortSignal,
  ): Promise<(Execution & { state: 'finished' }) | null> {
    const { clock, provider } = this.#deps;
    const giveUpAt = clock.monotonicMs() + unreachableForMs;
    for (;;) {
      try {
        const hand = await this.#hand(state, ref);
        if (!hand) return null;
        return await this.#send(hand, request, signal);
      } catch (error) {
        if (!(error instanceof HandError) || error.code !== 'unreachable' || signal.aborted) throw error;
        if (clock.monotonicMs() > giveUpAt) throw error;
        if ((await provider.find(ref)).state === 'gone') return null;
        await clock.sleep(200, signal);
      }
    }
  }

  async #send(hand: Hand, request: ExecuteRequest, signal: AbortSignal): Promise<Execution & { state: 'finished' }> {
    const { executionId } = request;
    const wasSent = this.#sent.has(executionId);
    this.#sent.add(executionId);
    try {
      return await hand.execute(this.#lease.epoch, request, signal);
    } catch (error) {
      if (!wasSent && error instanceof HandError && error.neverSent) this.#sent.delete(executionId);
      throw error;
    }
  }

  async #lost(ref: HandRef, executionId: EventId): Promise<HandOutcome> {
    const { provider } = this.#deps;
    this.#opening = null;
    if (await this.#lease.isOver()) return { kind: 'fenced' }; // It is another holder's hand now.
    await provider.end(ref);
    const execution = await provider.journal(ref, executionId);
    if (execution.state === 'finished') return { kind: 'finished', ref, execution };
    const started =
      execution.state === 'running' || this.#sent.has(executionId) || (await this.#lease.mayHaveBegun(executionId));
    return { kind: 'lost', ref, started };
  }

  /** Whether a later holder is behind what the hand says: it fences before its claim is in the log. */
  async #comesToBeOver(): Promise<boolean> {
    const { clock } = this.#deps;
    const giveUpAt = clock.monotonicMs() + claimFollowsWithinMs;
    for (;;) {
      if (await this.#lease.isOver()) return true;
      if (clock.monotonicMs() > giveUpAt) return false;
      await clock.sleep(100);
    }
  }
}

function refOf(state: SessionState): HandRef {
  const { sessionId, hand } = state;
  if (!hand) return { sessionId, hand: 'main', generation: 1 };
  const isOver = hand.status === 'lost' || hand.status === 'destroyed';
  return { sessionId, hand: hand.hand, generation: isOver ? hand.generation + 1 : hand.generation };
}
