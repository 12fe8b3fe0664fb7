/** Puts the public API on a Fastify server, and takes it off again without losing an answer. */
import type { Socket } from 'node:net';

import { formatId } from '@manyhands/protocol';
import type { DynamicModule, LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { sendError } from './api-error.ts';
import { answerClientError } from './client-error.ts';
import { Drain } from './drain.ts';
import { ErrorFilter } from './error.filter.ts';
import { bodyLimitBytes, parseJsonBodies } from './json-body.ts';
import type { PublicApi } from './public-api.ts';
import { declareContext } from './request-context.ts';
import { addRequestHooks } from './request-hooks.ts';

/** Longer than any id; what is longer names nothing. */
const maxParamLength = 256;

export interface HttpServer {
  /** For what an app does with its container. */
  app: NestFastifyApplication;
  /** Resolves with the address that was bound; rejects when it is taken. */
  listen(port: number, host: string): Promise<string>;
  /** Readiness off at once; requests and streams are served as before, while other parts of the process end. */
  beginDrain(): void;
  /** Readiness off, streams ended after what is committed, requests answered; in that time at most. */
  drain(limitMs: number): Promise<void>;
  /** Closes what is left. */
  close(): Promise<void>;
}

/** The module must import `PublicApiModule.register(api)`. */
export async function createHttpServer(module: Type<unknown> | DynamicModule, api: PublicApi): Promise<HttpServer> {
  const app = await NestFactory.create<NestFastifyApplication>(module, createAdapter(api), {
    bodyParser: false,
    abortOnError: false,
    forceCloseConnections: true,
    logger: nestLogger(api),
  });
  const instance: FastifyInstance = app.getHttpAdapter().getInstance();
  const drain = app.get(Drain, { strict: false });
  drain.watch(instance.server);
  declareContext(instance);
  parseJsonBodies(instance);
  addRequestHooks(instance, api, drain);
  app.useGlobalFilters(new ErrorFilter(api.logger));
  await app.init();
  return {
    app,
    listen: (port, host) => instance.listen({ port, host }),
    beginDrain: () => drain.begin(),
    drain: (limitMs) => drain.run(limitMs),
    close: async () => {
      await drain.run(0);
      await app.close();
    },
  };
}

function createAdapter({ clock }: PublicApi): FastifyAdapter {
  const newRequestId = () => formatId('request', clock.randomBytes(16));
  return new FastifyAdapter({
    logger: false,
    bodyLimit: bodyLimitBytes,
    requestIdHeader: false,
    genReqId: newRequestId,
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) =>
      answerClientError(error.code ?? '', socket, newRequestId()),
    // No middleware is used, and its plugin would look at every request.
    skipMiddie: true,
    routerOptions: { maxParamLength },
    frameworkErrors: (error: FastifyError, _request: FastifyRequest, reply: FastifyReply) => {
      if (error.code === 'FST_ERR_MAX_PARAM_LENGTH')
        void sendError(reply, 'not_found', 'There is nothing with this id.');
      else void sendError(reply, 'invalid_request', 'The URL is malformed.');
    },
  });
}

/** Nest tells its start in many lines; what is wrong is enough. */
function nestLogger({ logger }: PublicApi): LoggerService {
  const write = (level: 'warn' | 'error') => (message: unknown) => logger[level]({ from: 'nest' }, String(message));
  return { log: () => {}, warn: write('warn'), error: write('error'), fatal: write('error') };
}
