/**
 * Answers of a daemon, as far as they are believed. A command in the sandbox has the daemon's rights and can answer in its
 * place, so only what was looked at gets out of here. What no daemon says is `'lost'`: the hand is not one any more.
 */
import { handResult } from '@manyhands/core';
import { HandError, type Execution } from '@manyhands/ports';
import type { EventId } from '@manyhands/protocol';
import type { HandResponse } from './request.ts';
import type { ErrorAnswer } from './wire.ts';

/** A response of a model asks for fewer calls. */
const maxRunning = 1_000;
const maxMessageChars = 500;
const executionId = /^[A-Za-z0-9_]{1,128}$/;

export type KnownExecution = Execution & { state: 'running' | 'finished' };

/** Throws what a refusal means. 404 is an answer about an execution; every other refusal is one of the request. */
export function readRefusal({ status, body }: HandResponse): void {
  if (status === 200 || status === 404) return;
  const { error, message } = fieldsOf(body);
  const code = refusals.get(`${status} ${String(error)}`);
  if (!code || typeof message !== 'string') throw noDaemon(`a refusal ${status}`);
  throw new HandError(code, message.slice(0, maxMessageChars).toWellFormed());
}

const refusals = new Map<string, HandError['code']>([
  [refusal(409, 'fenced'), 'fenced'],
  [refusal(401, 'unauthorized'), 'refused'],
  [refusal(400, 'invalid'), 'refused'],
  [refusal(405, 'invalid'), 'refused'],
]);

function refusal(status: number, error: ErrorAnswer['error']): string {
  return `${status} ${error}`;
}

export function readRunning({ status, body }: HandResponse): EventId[] {
  const { executions } = fieldsOf(body);
  if (status !== 200 || !Array.isArray(executions)) throw noDaemon('what it has running');
  const running = executions.map(fieldsOf).filter(({ state }) => state === 'running');
  if (running.length > maxRunning) throw noDaemon('how much it has running');
  return running.map(({ id }) => {
    if (typeof id !== 'string' || !executionId.test(id)) throw noDaemon('what it has running');
    return id as EventId;
  });
}

export function readExecution({ status, body }: HandResponse): KnownExecution {
  const { state, isError, content } = fieldsOf(body);
  if (status === 200 && state === 'running') return { state };
  const result = status === 200 && state === 'finished' ? handResult(isError, content) : null;
  if (!result) throw noDaemon('an execution');
  return { state: 'finished', ...result };
}

export function isUnknown({ status, body }: HandResponse): boolean {
  return status === 404 && fieldsOf(body)['error'] === 'unknown';
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function noDaemon(about: string): HandError {
  return new HandError('lost', `the answer about ${about} is none that a hand gives`);
}
