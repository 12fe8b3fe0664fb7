import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FaultCounter } from './fault-counter.ts';
import { answerMessages } from './messages-handler.ts';
import { errorTypeOf } from './messages-api.ts';
import { RequestLog } from './request-log.ts';

export interface ScriptedModelOptions {
  host?: string;
  /** 0: any free one. */
  port?: number;
  /** Prompts of more tokens (four characters each) are refused as too long; never, unless told. */
  contextWindowTokens?: number;
}

export interface ScriptedModel {
  /** For the SDK's `baseURL`. */
  baseUrl: string;
  requests: RequestLog;
  /** Ends open streams too. */
  close(): Promise<void>;
}

/** Longer than any client keeps an idle connection, so that none is closed under a request. */
const keepAliveTimeoutMs = 120_000;

/**
 * Serves `POST /v1/messages`, and for tests in other processes `GET /_scripted/requests` (`?conversation=` one alone,
 * `?bodies` with the last bodies) and `DELETE /_scripted/requests`.
 */
export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const requests = new RequestLog();
  const deps = { requests, faults: new FaultCounter(), contextWindowTokens: options.contextWindowTokens ?? Infinity };
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs, noDelay: true }, (request, response) => {
    const url = new URL(request.url ?? '/', 'http://scripted');
    if (request.method === 'POST' && url.pathname === '/v1/messages') {
      answerMessages(request, response, deps).catch((error: unknown) => fail(response, error));
    } else if (url.pathname === '/_scripted/requests') showRequests(request, response, url, requests);
    else sendError(response, 404, `${request.method ?? ''} ${url.pathname} is not served here`);
  });
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { address, family, port } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  return { baseUrl: `http://${host}:${port}`, requests, close: () => close(server) };
}

function showRequests(request: IncomingMessage, response: ServerResponse, url: URL, log: RequestLog): void {
  request.resume();
  if (request.method === 'DELETE') log.clear();
  const conversation = url.searchParams.get('conversation') ?? undefined;
  const shown = {
    count: log.count,
    requests: log.requests(conversation),
    ...(url.searchParams.has('bodies') && { bodies: log.bodies(conversation) }),
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(shown));
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else sendError(response, 500, String(error));
}

function sendError(response: ServerResponse, status: number, message: string): void {
  const body = { type: 'error', error: { type: errorTypeOf(status), message } };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
