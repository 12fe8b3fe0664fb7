import { request as httpRequest, type Agent } from 'node:http';
import { HandError, type HandAddress } from '@manyhands/ports';

export interface HandRequest {
  method: 'GET' | 'PUT' | 'DELETE';
  path: string;
  grant: string;
  body?: unknown;
  /** Without an answer for this long the hand counts as unreachable. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface HandResponse {
  status: number;
  body: unknown;
}

/** Nothing listens there, and nothing ever will again: a hand's socket is bound once in its life. */
const deadCodes = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK', 'ENOTDIR']);

/** One request and its JSON answer. Throws `HandError`, or the signal's reason. */
export async function send(address: HandAddress, agent: Agent, request: HandRequest): Promise<HandResponse> {
  request.signal?.throwIfAborted();
  try {
    return await exchange(address, agent, request);
  } catch (cause) {
    request.signal?.throwIfAborted();
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code && deadCodes.has(code)) throw new HandError('lost', 'nothing listens for this hand', { cause });
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
    outgoing.on('timeout', () => outgoing.destroy(new Error(`silent for ${request.timeoutMs} ms`)));
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        try {
          const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
          resolve({ status: incoming.statusCode ?? 0, body: parsed });
        } catch (cause) {
          reject(new Error('the answer is no JSON', { cause }));
        }
      });
    });
    outgoing.end(body);
  });
}

function target(address: HandAddress): { socketPath: string } | { host: string; port: string } {
  if (address.kind === 'unix') return { socketPath: address.socketPath };
  const { hostname, port } = new URL(address.url);
  return { host: hostname, port };
}
