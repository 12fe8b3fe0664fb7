import { decideCreate } from '@manyhands/core';
import { formatId, sessionStream, type CreateSession } from '@manyhands/protocol';
import type { CommandDecision, CommandDeps } from './command-deps.ts';

/** The id is new, or derived from an `Idempotency-Key`: then a stream that exists was made by an earlier request. */
export async function createSession(command: CreateSession, deps: CommandDeps): Promise<CommandDecision> {
  const row = deps.states.row(sessionStream(command.sessionId));
  if (row) {
    const what =
      row.deletedAt === 0 ? 'made a session before, with another request' : 'made a session that was deleted since';
    return { kind: 'refuse', refusal: { code: 'idempotency_key_reused', message: `This Idempotency-Key ${what}.` } };
  }
  const threadId = formatId('thread', deps.randomBytes(16));
  return decideCreate(command, threadId, { now: deps.now(), newId: deps.newId });
}
