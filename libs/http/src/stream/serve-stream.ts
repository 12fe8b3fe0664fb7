/**
 * Opens an event stream. The order matters to clients, who take the headers for "from now on nothing is missed": a place,
 * the start, the position in the log, and only then the headers.
 */
import type { EventCursor } from '@manyhands/ports';
import type { PreviewableEventType, SessionId } from '@manyhands/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { ApiError } from '../api-error.ts';
import { found } from '../parse.ts';
import type { PublicApi } from '../public-api.ts';
import { EventStream } from './event-stream.ts';
import { followUntilAsked, type Following } from './follow-until-asked.ts';
import type { OpenStreams } from './open-streams.ts';
import { PreviewGate } from './preview-gate.ts';
import { parseEventId } from './sse-frames.ts';
import { SseWriter, streamHeaders } from './sse-writer.ts';
import { streamStart } from './stream-start.ts';

const standardStallLimitMs = 60_000;

export interface StreamChoice {
  sessionId: SessionId;
  previews: readonly PreviewableEventType[];
}

/** Answers with the stream, or throws while it still can be another answer. Resolves when the headers are sent. */
export async function serveStream(
  request: FastifyRequest,
  choice: StreamChoice,
  reply: FastifyReply,
  { api, streams }: { api: PublicApi; streams: OpenStreams },
): Promise<void> {
  if (request.method === 'HEAD') return describe(request, choice, reply, api);
  const place = streams.admit(request.identity.apiKeyId);
  try {
    const { stream, deliveries } = await open(request, choice, reply, api);
    place.hold(stream);
    void stream.run(deliveries).finally(() => place.leave());
  } catch (error) {
    place.leave();
    throw error;
  }
}

/** Says that there is a stream, without being one. */
async function describe(request: FastifyRequest, { sessionId }: StreamChoice, reply: FastifyReply, api: PublicApi) {
  found(await api.sessions.session(request.identity.workspaceId, sessionId), 'session');
  await reply.headers(streamHeaders).send();
}

async function open(request: FastifyRequest, choice: StreamChoice, reply: FastifyReply, api: PublicApi) {
  const { workspaceId, apiKeyId } = request.identity;
  const ended = endOf(reply);
  const owner = { sessionId: choice.sessionId, apiKeyId };
  const start = await streamStart(resumePosition(request.headers['last-event-id']), owner, api);
  const finish = new AbortController();
  const follow: Following['follow'] = (after, signal) =>
    api.sessions.follow(workspaceId, choice.sessionId, after, signal);
  const followed = found(await followUntilAsked(start, { follow, ended, asked: finish.signal }), 'session');
  request.isStreaming = true;
  reply.hijack();
  const writer = new SseWriter(reply.raw, api.clock, api.options.streamStallLimitMs ?? standardStallLimitMs);
  const gate = new PreviewGate(new Set(choice.previews), followed.epoch);
  writer.open({ 'request-id': request.id });
  const { liveBus, logger } = api;
  const stream = new EventStream({ owner, requestId: request.id, writer, gate, liveBus, logger, finish, ended });
  return { stream, deliveries: followed.deliveries };
}

function resumePosition(header: string | string[] | undefined): EventCursor | null {
  if (header === undefined || header === '') return null;
  const position = typeof header === 'string' ? parseEventId(header) : null;
  if (position !== null) return position;
  throw new ApiError('invalid_request', 'Last-Event-ID: must be the id of a message of this stream, such as 12.0');
}

/** Aborts when the response is closed, by whomever. */
function endOf(reply: FastifyReply): AbortSignal {
  const ended = new AbortController();
  reply.raw.once('close', () => ended.abort());
  if (reply.raw.destroyed) ended.abort();
  return ended.signal;
}
