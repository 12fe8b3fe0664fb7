/** The daemon's HTTP face (see the wire of adapters/hand): checks the grant, finds the execution, waits for its end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  maxBodyBytes,
  maxWaitMs,
  type ErrorAnswer,
  type ExecutionAnswer,
  type ExecutionBody,
  type ExecutionList,
} from '@manyhands/adapter-hand';
import type { Call, Execution, Executions } from './executions.ts';
import type { Fence } from './fence.ts';
import type { Grants } from './grants.ts';
import { isHandTool } from './tools/tool-input.ts';

export interface ServerParts {
  executions: Executions;
  grants: Grants;
  fence: Fence;
  /** Called for every request that was admitted. */
  onContact: () => void;
}

interface Answer {
  status: number;
  body: ExecutionAnswer | ExecutionList | ErrorAnswer | { status: 'ok' };
}

export function handServer(parts: ServerParts): Server {
  const server = createServer((request, response) => {
    void answerTo(request, response, parts)
      .catch((error: unknown): Answer => refuse(400, 'invalid', error instanceof Error ? error.message : String(error)))
      .then(({ status, body }) => {
        const text = JSON.stringify(body);
        response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
        response.end(text);
      });
  });
  // The platform keeps its connections. Closing an idle one would race its next request for nothing.
  server.keepAliveTimeout = 0;
  return server;
}

async function answerTo(request: IncomingMessage, response: ServerResponse, parts: ServerParts): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'http://hand');
  if (url.pathname === '/healthz') return { status: 200, body: { status: 'ok' } };
  const admission = await parts.grants.admit(request.headers.authorization);
  if (admission.kind !== 'admitted')
    return refuse(admission.kind === 'fenced' ? 409 : 401, admission.kind, admission.message);
  parts.onContact();
  const { executions, fence } = parts;
  if (url.pathname === '/executions' && request.method === 'GET')
    return { status: 200, body: { epoch: fence.epoch, executions: executions.list() } };
  const id = /^\/executions\/([A-Za-z0-9_]{1,128})$/.exec(url.pathname)?.[1];
  if (id === undefined) return refuse(404, 'unknown', 'no such thing here');
  const waitMs = Math.min(Number(url.searchParams.get('wait_ms') ?? 0) || 0, maxWaitMs);
  switch (request.method) {
    case 'PUT': {
      const call = callFrom(id, await readBody(request));
      // A later holder may have come while the body was read.
      const again = await parts.grants.admit(request.headers.authorization);
      if (again.kind === 'fenced') return refuse(409, 'fenced', again.message);
      return look(executions.join(call), waitMs, response, parts);
    }
    case 'DELETE':
      await executions.cancel(id);
      return look(executions.find(id), 0, response, parts);
    case 'GET':
      return look(executions.find(id), waitMs, response, parts);
    default:
      return refuse(405, 'invalid', 'no such method here');
  }
}

async function look(
  execution: Execution | null,
  waitMs: number,
  response: ServerResponse,
  parts: ServerParts,
): Promise<Answer> {
  if (!execution) return refuse(404, 'unknown', 'no such execution');
  if (!execution.isFinished && waitMs > 0) {
    await endOrTime(execution, waitMs, response);
    parts.onContact();
  }
  if (!execution.isFinished) return { status: 200, body: { state: 'running', output: execution.outputText() } };
  return { status: 200, body: { state: 'finished', ...(await execution.answer()) } };
}

/** Also over when the caller has hung up. */
function endOrTime(execution: Execution, waitMs: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    response.once('close', done);
    void execution.finished.then(done);
  });
}

function callFrom(id: string, body: Partial<ExecutionBody>): Call {
  const { name, input, timeoutMs } = body;
  if (typeof name !== 'string' || !isHandTool(name)) throw new TypeError(`no such tool in a sandbox: ${String(name)}`);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) throw new TypeError('input is no object');
  if (timeoutMs !== undefined && !(Number.isSafeInteger(timeoutMs) && timeoutMs > 0))
    throw new TypeError('timeoutMs is no positive integer');
  return { id, name, input, ...(timeoutMs !== undefined && { timeoutMs }) };
}

async function readBody(request: IncomingMessage): Promise<Partial<ExecutionBody>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new RangeError(`a body holds at most ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  if (typeof body !== 'object' || body === null) throw new TypeError('the body is no object');
  return body;
}

function refuse(status: number, error: ErrorAnswer['error'], message: string): Answer {
  return { status, body: { error, message } };
}
