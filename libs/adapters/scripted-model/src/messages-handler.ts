import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerOf } from './answer.ts';
import { dueTurn, type DueTurn } from './conversation.ts';
import type { FaultCounter } from './fault-counter.ts';
import { errorTypeOf, type MessageAnswer, type MessagesRequest } from './messages-api.ts';
import { promptFault } from './prompt-rules.ts';
import { preciseNow, type LoggedRequest, type RequestLog } from './request-log.ts';
import { ScriptError, type ScriptFault } from './script.ts';
import { sse, streamEvents, wholeMessage } from './stream.ts';

export interface MessagesDeps {
  requests: RequestLog;
  faults: FaultCounter;
  contextWindowTokens: number;
}

/** The real API's limit. */
const maxBodyBytes = 32 * 1024 * 1024;

type Fault<Kind extends ScriptFault['kind']> = ScriptFault & { kind: Kind };

/** An error answer of the API. */
class ApiError extends Error {
  readonly status: number;
  readonly errorType: string;
  readonly headers: Record<string, string>;
  constructor(status: number, message: string, options: { errorType?: string; headers?: Record<string, string> } = {}) {
    super(message);
    this.status = status;
    this.errorType = options.errorType ?? errorTypeOf(status);
    this.headers = options.headers ?? {};
  }
}

/** One exchange: what a request is answered with, and where its times are written down. */
interface Exchange {
  response: ServerResponse;
  logged: LoggedRequest;
  /** Aborts when the client goes. */
  gone: AbortSignal;
}

export async function answerMessages(
  request: IncomingMessage,
  response: ServerResponse,
  deps: MessagesDeps,
): Promise<void> {
  const arrivedAt = preciseNow();
  const requestId = `req_${crypto.randomUUID().replaceAll('-', '')}`;
  response.setHeader('request-id', requestId);
  try {
    const bytes = await readBody(request);
    const body = parseBody(request, bytes);
    const logged = deps.requests.add(arrivedAt, body, bytes.length);
    const exchange = { response, logged, gone: watchClient(response, logged) };
    await answer(exchange, body, bytes.length, deps);
  } catch (error) {
    if (response.destroyed) return;
    if (error instanceof ApiError) sendError(response, error, requestId);
    else throw error;
  }
}

async function answer(exchange: Exchange, body: MessagesRequest, bytes: number, deps: MessagesDeps): Promise<void> {
  refuse(exchange.logged, checkPrompt(body, bytes, deps.contextWindowTokens));
  const due = findTurn(exchange.logged, body);
  exchange.logged.conversation = due.conversation;
  exchange.logged.turn = due.index;
  if (due.turn.delayMs !== undefined) await sleep(due.turn.delayMs, undefined, { signal: exchange.gone });
  const fault = deps.faults.next(due);
  if (fault?.kind === 'status') refuse(exchange.logged, statusError(fault));
  const message = answerOf(body, due, bytes);
  if (body.stream === true) await stream(exchange, message, due, fault);
  else sendWhole(exchange, message);
}

function findTurn(logged: LoggedRequest, body: MessagesRequest): DueTurn {
  try {
    return dueTurn(body);
  } catch (error) {
    if (error instanceof ScriptError) return refuse(logged, new ApiError(400, error.message));
    throw error;
  }
}

/** Streams the answer up to the fault, if there is one. Without delays it is written in one piece. */
async function stream(
  exchange: Exchange,
  message: MessageAnswer,
  due: DueTurn,
  fault: ScriptFault | null,
): Promise<void> {
  const events = streamEvents(message, due.turn.chunkChars);
  const sent = fault && fault.kind !== 'status' ? events.slice(0, fault.afterEvents) : events;
  const { response, logged } = exchange;
  if (sent.length === 0 && fault?.kind === 'silence') return;
  if (sent.length === 0 && fault?.kind === 'cut') return void response.socket?.resetAndDestroy();
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  logged.answeredAt = preciseNow();
  if (due.turn.tokenDelayMs === undefined) await writeAll(response, sent.join(''), fault === null);
  else await writeSlowly(exchange, sent, due.turn.tokenDelayMs);
  if (fault?.kind === 'silence') return;
  if (fault?.kind === 'cut') response.socket?.resetAndDestroy();
  else if (fault?.kind === 'error') response.end(sse(streamError(fault)));
  else if (!response.writableEnded) response.end();
}

function writeAll(response: ServerResponse, text: string, isLast: boolean): Promise<void> {
  if (isLast) {
    response.end(text);
    return Promise.resolve();
  }
  // A cut must not overtake what was written before it.
  return new Promise((resolve) => response.write(text, () => resolve()));
}

async function writeSlowly({ response, gone }: Exchange, events: readonly string[], delayMs: number): Promise<void> {
  for (const [index, event] of events.entries()) {
    if (index > 0) await sleep(delayMs, undefined, { signal: gone });
    response.write(event);
  }
}

function sendWhole({ response, logged }: Exchange, message: MessageAnswer): void {
  logged.answeredAt = preciseNow();
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(wholeMessage(message)));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new ApiError(413, 'Request exceeds the maximum size');
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

function parseBody(request: IncomingMessage, bytes: Buffer): MessagesRequest {
  if (!request.headers['x-api-key'] && !request.headers.authorization) {
    throw new ApiError(401, 'an API key is required');
  }
  try {
    return JSON.parse(bytes.toString('utf8')) as MessagesRequest;
  } catch {
    throw new ApiError(400, 'The request body is not valid JSON');
  }
}

function checkPrompt(body: MessagesRequest, bytes: number, contextWindowTokens: number): ApiError | null {
  const tokens = Math.ceil(bytes / 4);
  if (tokens > contextWindowTokens) {
    return new ApiError(400, `prompt is too long: ${tokens} tokens > ${contextWindowTokens} maximum`);
  }
  const fault = promptFault(body);
  return fault === null ? null : new ApiError(400, fault);
}

function refuse(logged: LoggedRequest, error: ApiError): never;
function refuse(logged: LoggedRequest, error: ApiError | null): void;
function refuse(logged: LoggedRequest, error: ApiError | null): void {
  if (!error) return;
  logged.status = error.status;
  logged.answeredAt = preciseNow();
  throw error;
}

function statusError(fault: Fault<'status'>): ApiError {
  const headers: Record<string, string> = {};
  if (fault.retryAfterMs !== undefined) {
    headers['retry-after-ms'] = String(fault.retryAfterMs);
    headers['retry-after'] = String(Math.ceil(fault.retryAfterMs / 1000));
  }
  const message = fault.message ?? `Scripted status ${fault.status}`;
  return new ApiError(fault.status, message, { headers, ...(fault.errorType && { errorType: fault.errorType }) });
}

function streamError(fault: Fault<'error'>) {
  return { type: 'error', error: { type: fault.errorType ?? 'overloaded_error', message: 'Scripted error' } };
}

function sendError(response: ServerResponse, error: ApiError, requestId: string): void {
  const body = { type: 'error', error: { type: error.errorType, message: error.message }, request_id: requestId };
  const closing = error.status === 413 ? { connection: 'close' } : {};
  response.writeHead(error.status, { 'content-type': 'application/json', ...closing, ...error.headers });
  response.end(JSON.stringify(body));
}

function watchClient(response: ServerResponse, logged: LoggedRequest): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (response.writableFinished) return;
    logged.abortedAt = preciseNow();
    controller.abort();
  });
  return controller.signal;
}
