import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http';
import { HandError, type HandAddress } from '@manyhands/ports';
import { maxAnswerBytes } from './wire.ts';

export interface HandRequest {
  method: 'GET' | 'PUT' | 'DELETE';
  path: string;
  grant: string;
  body?: unknown;
  /** Without a sign of life for this long the hand counts as unreachable; so it does when its answer takes longer still. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface HandResponse {
  status: number;
  body: unknown;
}

/** There is no connection, and never will be one again: a hand's socket is bound once in its life. */
const deadCodes = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK', 'ENOTDIR']);

/** What an answer may take beyond the silence before it: who sends it byte by byte is never silent. */
const transferMs = 15_000;

/**
 * One request and its JSON answer. Throws `HandError`, or the signal's reason.
 *
 * Whatever runs in a sandbox may answer in the daemon's place. An answer that no daemon gives is `'lost'`: what speaks
 * there is not the hand any more.
 */
export async function send(address: HandAddress, agent: Agent, request: HandRequest): Promise<HandResponse> {
  request.signal?.throwIfAborted();
  try {
    return await exchange(address, agent, request);
  } catch (cause) {
    request.signal?.throwIfAborted();
    if (cause instanceof HandError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code?.startsWith('HPE_')) throw new HandError('lost', 'what answers for this hand speaks no HTTP', { cause });
    if (code && deadCodes.has(code))
      throw new HandError('lost', 'nothing listens for this hand', { cause, neverSent: true });
    throw new HandError('unreachable', `no answer from the hand: ${message}`, { cause });
  }
}

function exchange(address: HandAddress, agent: Agent, request: HandRequest): Promise<HandResponse> {
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      ...target(address),
      agent,
      method: request.method,
      path: request.path,
      timeout: request.timeoutMs,
      ...(request.signal && { signal: request.signal }),
      headers: {
        authorization: `Bearer ${request.grant}`,
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
    });
    const deadline = setTimeout(
      () => outgoing.destroy(new Error('the answer did not come to its end')),
      request.timeoutMs + transferMs,
    );
    outgoing.on('close', () => clearTimeout(deadline));
    outgoing.on('timeout', () => outgoing.destroy(new Error(`silent for ${request.timeoutMs} ms`)));
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      readJson(incoming).then((answer) => resolve({ status: incoming.statusCode ?? 0, body: answer }), reject);
    });
    outgoing.end(body);
  });
}

async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new HandError('lost', `the answer has more than ${maxAnswerBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (cause) {
    throw new HandError('lost', 'the answer is no JSON', { cause });
  }
}

function target(address: HandAddress): { socketPath: string } | { host: string; port: string } {
  if (address.kind === 'unix') return { socketPath: address.socketPath };
  const { hostname, port } = new URL(address.url);
  return { host: hostname, port };
}
