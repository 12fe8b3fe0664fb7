/** The one parser of bodies. Whatever an empty body claims to be, it is no body: archives are posted that way. */
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { ApiError } from './api-error.ts';
import { hashOf } from './idempotency.ts';

/** Of requests to agents, sessions and environments. */
export const bodyLimitBytes = 32 * 1024 * 1024;

export const contentTypeMessage = 'The request body must be sent as content-type: application/json.';

export function parseJsonBodies(instance: FastifyInstance): void {
  // Keys that would reach an object's prototype are refused.
  const parseJson = instance.getDefaultJsonParser('error', 'error');
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('*', { parseAs: 'string' }, (request: FastifyRequest, body: string, done) => {
    if (request.headers['idempotency-key'] !== undefined) request.bodyHash = hashOf(body);
    if (body.trim() === '') return done(null, undefined);
    if (!isJson(request.headers['content-type'])) {
      return done(new ApiError('invalid_request', contentTypeMessage));
    }
    void parseJson(request, body, (error, value) => {
      if (error === null) done(null, value);
      else done(new ApiError('invalid_request', `The request body is not valid JSON: ${reasonOf(error)}.`));
    });
  });
}

function isJson(contentType: string | undefined): boolean {
  const mediaType = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

/** V8 quotes the text around a mistake; a body may hold what must not appear in answers or logs. */
function reasonOf(error: Error): string {
  if (/forbidden prototype property/i.test(error.message)) return 'it has a forbidden key';
  const position = /position \d+(?: \(line \d+ column \d+\))?/.exec(error.message)?.[0];
  return position === undefined ? 'it ends too early or is malformed' : `mistake at ${position}`;
}
