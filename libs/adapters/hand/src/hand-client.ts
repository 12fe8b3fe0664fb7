/**
 * Speaks to the daemon of one hand.
 *
 * A request that got no answer may have arrived, so all of them are repeatable: the same execution id joins (E6), a
 * cancel is a cancel, a look changes nothing. What is repeated here is only a connection that broke under a request;
 * whether the hand still lives then shows in the next attempt.
 */
import type { KeyObject } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  HandError,
  type ExecuteRequest,
  type Execution,
  type Hand,
  type HandAddress,
  type HandRef,
} from '@manyhands/ports';
import type { Epoch, EventId } from '@manyhands/protocol';
import { signGrant } from './grant-token.ts';
import { isUnknown, readExecution, readRefusal, readRunning } from './read-answer.ts';
import { send, type HandRequest, type HandResponse } from './request.ts';
import { maxWaitMs, type ExecutionBody } from './wire.ts';

/** A request is answered at once or after the wait it asked for; beyond that and this grace nobody is there. */
const answerGraceMs = 15_000;
/** What a grant must cover at least: a request's wait and its grace. */
const grantNeededMs = maxWaitMs + answerGraceMs;
/** What it has beyond that is the time for which it is sent again. */
const grantLifetimeMs = 60_000;
/** A client is made for each lease and never closed: its connections have to go by themselves. */
const idleConnectionMs = 10_000;
const retryDelaysMs = [10, 50, 200];
/** A daemon says that a call still runs when the wait is over, and what answers at once must not be asked without pause. */
const stillRunningPauseMs = 100;

type Finished = Execution & { state: 'finished' };

export class HandClient implements Hand {
  readonly ref: HandRef;
  readonly #address: HandAddress;
  readonly #privateKey: KeyObject;
  readonly #agent = new Agent({ keepAlive: true, timeout: idleConnectionMs });
  #signed: { epoch: Epoch; token: string; usableUntil: number } | null = null;

  constructor(ref: HandRef, address: HandAddress, privateKey: KeyObject) {
    this.ref = ref;
    this.#address = address;
    this.#privateKey = privateKey;
  }

  async fence(epoch: Epoch): Promise<EventId[]> {
    return readRunning(await this.#ask(epoch, { method: 'GET', path: '/executions', timeoutMs: answerGraceMs }));
  }

  async execute(epoch: Epoch, request: ExecuteRequest, signal: AbortSignal): Promise<Finished> {
    const body: ExecutionBody = { name: request.name, input: request.input };
    for (let asked = 0; ; asked++) {
      const response = await this.#ask(
        epoch,
        {
          method: 'PUT',
          path: `${executionPath(request.executionId)}?wait_ms=${maxWaitMs}`,
          body,
          timeoutMs: maxWaitMs + answerGraceMs,
          signal,
        },
        asked > 0,
      );
      const execution = readExecution(response);
      if (execution.state === 'finished') return execution;
      await pause(stillRunningPauseMs, signal);
    }
  }

  async look(epoch: Epoch, executionId: EventId): Promise<Execution> {
    const path = executionPath(executionId);
    const response = await this.#ask(epoch, { method: 'GET', path, timeoutMs: answerGraceMs });
    return isUnknown(response) ? { state: 'unknown' } : readExecution(response);
  }

  async cancel(epoch: Epoch, executionId: EventId): Promise<void> {
    const path = executionPath(executionId);
    await this.#ask(epoch, { method: 'DELETE', path, timeoutMs: answerGraceMs });
  }

  /** `wasSent`: the same request may have arrived before. */
  async #ask(epoch: Epoch, request: Omit<HandRequest, 'grant'>, wasSent = false): Promise<HandResponse> {
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await send(this.#address, this.#agent, { ...request, grant: this.#grant(epoch) });
        readRefusal(response);
        return response;
      } catch (error) {
        if (error instanceof HandError && error.neverSent && (wasSent || attempt > 0))
          throw new HandError(error.code, error.message, { cause: error.cause });
        const delayMs = retryDelaysMs[attempt];
        if (delayMs === undefined || !isBrokenConnection(error)) throw error;
        await sleep(delayMs);
      }
    }
  }

  #grant(epoch: Epoch): string {
    const now = Date.now();
    if (this.#signed?.epoch === epoch && now < this.#signed.usableUntil) return this.#signed.token;
    const { sessionId: session, hand, generation } = this.ref;
    const exp = now + grantLifetimeMs;
    const token = signGrant({ session, hand, generation, epoch, exp }, this.#privateKey);
    this.#signed = { epoch, token, usableUntil: exp - grantNeededMs };
    return token;
  }
}

function executionPath(executionId: EventId): string {
  return `/executions/${encodeURIComponent(executionId)}`;
}

/** Throws the signal's reason. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {}); // Cut short by the signal, which then says why.
  signal.throwIfAborted();
}

function isBrokenConnection(error: unknown): boolean {
  if (!(error instanceof HandError) || error.code !== 'unreachable') return false;
  const { code } = error.cause as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'EAGAIN';
}
