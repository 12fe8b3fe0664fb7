/** Every error of every request ends here and leaves in the wire's shape. What we did not expect says nothing of itself. */
import { SessionLogError, type Logger } from '@manyhands/ports';
import type { ErrorCode } from '@manyhands/protocol';
import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { ApiError, sendError } from './api-error.ts';
import { bodyLimitBytes, contentTypeMessage } from './json-body.ts';
import { messageForUnknownPath } from './later-resources.ts';
import { pathOf } from './request-context.ts';

interface Answer {
  code: ErrorCode;
  message: string;
}

@Catch()
export class ErrorFilter implements ExceptionFilter {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    // A stream has its own way to say that something failed.
    if (reply.sent) return;
    const request = http.getRequest<FastifyRequest>();
    const { code, message } = this.#answerTo(error, request);
    void sendError(reply, code, message);
  }

  #answerTo(error: unknown, request: FastifyRequest): Answer {
    if (error instanceof ApiError) return error;
    if (error instanceof SessionLogError) return this.#answerToLog(error, request);
    const status = statusOf(error);
    if (status === 404)
      return { code: 'not_found', message: messageForUnknownPath(request.method, pathOf(request.url)) };
    if (status === 413)
      return { code: 'request_too_large', message: `A body may have ${bodyLimitBytes} bytes at most.` };
    if (status === 415) return { code: 'invalid_request', message: contentTypeMessage };
    if (status !== null && status < 500) return { code: 'invalid_request', message: 'The request is malformed.' };
    this.#log(error, request);
    return { code: 'internal_error', message: 'Internal server error.' };
  }

  #answerToLog(error: SessionLogError, request: FastifyRequest): Answer {
    switch (error.code) {
      case 'unavailable':
        return { code: 'unavailable', message: 'The session log is not available at the moment. Try again.' };
      case 'closed':
        return { code: 'unavailable', message: 'The server is shutting down.' };
      case 'stream-broken':
      case 'key-missing':
        this.#log(error, request);
        return { code: 'internal_error', message: error.message };
    }
  }

  #log(error: unknown, request: FastifyRequest): void {
    this.#logger.error(
      { error, requestId: request.id, method: request.method, route: routeOf(request) },
      'a request failed',
    );
  }
}

function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? '(none)';
}

/** Nest's and Fastify's own errors have a status. */
function statusOf(error: unknown): number | null {
  if (error instanceof HttpException) return error.getStatus();
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
  return typeof status === 'number' ? status : null;
}
