import type { CommandOutcome } from '@manyhands/ports';
import { errorBody, errorCodes, type ErrorCode, type ErrorCodeEntry, type Refusal } from '@manyhands/protocol';
import type { FastifyReply } from 'fastify';

/** A request that is refused: the code decides everything a client may rely on, the message is for people. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
  }
}

export function refuse({ code, message }: Refusal): never {
  throw new ApiError(code, message);
}

/** What a command did, if it was not refused. */
export function doneOrRefuse(outcome: CommandOutcome): Extract<CommandOutcome, { kind: 'done' }> {
  return outcome.kind === 'done' ? outcome : refuse(outcome.refusal);
}

/** Seconds; nothing here takes longer to pass than a restart of a replica, and SDKs add their own back-off. */
const retryAfterSeconds = 1;

/** Answers with the wire's shape; the one place that turns a code into status and headers. */
export function sendError(reply: FastifyReply, code: ErrorCode, message: string): FastifyReply {
  const entry: ErrorCodeEntry = errorCodes[code];
  if (entry.status === 429 || entry.status === 503) void reply.header('retry-after', String(retryAfterSeconds));
  if (entry.shouldRetry !== undefined) void reply.header('x-should-retry', String(entry.shouldRetry));
  return reply
    .code(entry.status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('request-id', reply.request.id)
    .send(errorBody(code, message, reply.request.id));
}
