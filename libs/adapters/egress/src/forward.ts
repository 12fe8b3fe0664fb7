/** Plain HTTP through the proxy: both messages are parsed and written anew, nothing is passed on raw. */
import { request as httpRequest, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { EgressError } from './egress-error.ts';
import { endToEndFields, forwardedRequestFields } from './header-fields.ts';
import type { Target } from './outbound.ts';
import { parseAbsolute, type PlainTarget } from './request-target.ts';

export interface ForwardDeps {
  connect(target: Target, signal: AbortSignal): Promise<Socket>;
  idleTimeoutMs: number;
  maxHeaderBytes: number;
}

/** Resolves when the answer is written; throws an EgressError, mostly while nothing of an answer was written yet. */
export async function forward(request: IncomingMessage, response: ServerResponse, deps: ForwardDeps): Promise<void> {
  refuseUpgrade(request);
  const target = parseAbsolute(request.url ?? '');
  const fields = forwardedRequestFields(request, target.authority);
  const clientGone = new AbortController();
  response.once('close', () => clientGone.abort());
  const socket = await deps.connect(target, clientGone.signal);
  response.once('close', () => socket.destroy());
  try {
    const upstream = ask(request, { socket, target, fields }, deps);
    await relay(await answerOf(upstream), response);
  } finally {
    socket.destroy();
  }
}

function refuseUpgrade({ headers }: IncomingMessage): void {
  // An offer of HTTP/2 may be ignored; a WebSocket cannot work as an ordinary request.
  if (headers.upgrade === undefined || headers.upgrade.toLowerCase() === 'h2c') return;
  throw new EgressError('not_supported', 'A connection upgrade is not forwarded; reach the host with CONNECT.');
}

function ask(
  request: IncomingMessage,
  to: { socket: Socket; target: PlainTarget; fields: string[] },
  { idleTimeoutMs, maxHeaderBytes }: ForwardDeps,
): ClientRequest {
  const upstream = httpRequest({
    createConnection: () => to.socket,
    method: request.method,
    path: to.target.path,
    headers: to.fields,
    setHost: false,
    maxHeaderSize: maxHeaderBytes,
  });
  to.socket.setTimeout(idleTimeoutMs, () => {
    upstream.destroy(new EgressError('upstream_timeout', `${to.target.host} sent nothing for too long.`));
  });
  // Not `pipeline`: a host may answer and close before it has read the whole body, and then the answer is what matters.
  request.pipe(upstream);
  return upstream;
}

function answerOf(upstream: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  upstream.once('response', resolve);
  upstream.on('error', (error) => reject(error instanceof EgressError ? error : brokenAnswer(error)));
  // Without a listener for upgrades Node closes a connection that is switched to another protocol unasked.
  upstream.once('close', () => reject(brokenAnswer()));
  return promise;
}

async function relay(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  response.sendDate = false;
  try {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEndFields(answer));
    await pipeline(answer, response);
  } catch (error) {
    answer.destroy();
    throw error instanceof EgressError ? error : brokenAnswer(error);
  }
}

function brokenAnswer(cause?: unknown): EgressError {
  return new EgressError(
    'upstream_failed',
    'The host closed the connection or gave an answer that is not valid HTTP.',
    {
      cause,
    },
  );
}
