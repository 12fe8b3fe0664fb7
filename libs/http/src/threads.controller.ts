/** Threads of a session. This version has the primary one alone: its events are the session's own. */
import {
  listThreadEventsQuerySchema,
  listThreadsQuerySchema,
  streamEventsQuerySchema,
  type Page,
  type SessionId,
  type SessionThread,
} from '@manyhands/protocol';
import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { ApiError } from './api-error.ts';
import { decodeEventCursor } from './cursors.ts';
import { sendEventPage } from './list-pages.ts';
import { found, notFound, parseId, parseQuery } from './parse.ts';
import { PUBLIC_API, type PublicApi } from './public-api.ts';
import { OpenStreams } from './stream/open-streams.ts';
import { serveStream } from './stream/serve-stream.ts';

@Controller('v1/sessions/:session_id/threads')
export class ThreadsController {
  readonly #api: PublicApi;
  readonly #streams: OpenStreams;

  constructor(@Inject(PUBLIC_API) api: PublicApi, @Inject(OpenStreams) streams: OpenStreams) {
    this.#api = api;
    this.#streams = streams;
  }

  @Get()
  async list(
    @Req() request: FastifyRequest,
    @Param('session_id') id: string,
    @Query() rawQuery: unknown,
  ): Promise<Page<SessionThread>> {
    const { statuses, page } = parseQuery(listThreadsQuerySchema, rawQuery);
    if (page !== undefined) throw new ApiError('invalid_cursor', 'page: this is no cursor of this list');
    const primary = await this.#primary(request, parseId('session', id));
    return { data: statuses === undefined || statuses.includes(primary.status) ? [primary] : [], next_page: null };
  }

  @Get(':thread_id')
  async get(
    @Req() request: FastifyRequest,
    @Param('session_id') id: string,
    @Param('thread_id') threadId: string,
  ): Promise<SessionThread> {
    return this.#thread(request, parseId('session', id), threadId);
  }

  @Post(':thread_id/archive')
  @HttpCode(200)
  async archive(
    @Req() request: FastifyRequest,
    @Param('session_id') id: string,
    @Param('thread_id') threadId: string,
  ): Promise<SessionThread> {
    await this.#thread(request, parseId('session', id), threadId);
    throw new ApiError('primary_thread', 'The primary thread cannot be archived; archive its session.');
  }

  @Get(':thread_id/events')
  async events(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('session_id') id: string,
    @Param('thread_id') threadId: string,
    @Query() rawQuery: unknown,
  ): Promise<void> {
    const sessionId = parseId('session', id);
    const { limit, page } = parseQuery(listThreadEventsQuerySchema, rawQuery);
    await this.#thread(request, sessionId, threadId);
    const query = {
      order: 'asc',
      limit,
      after: decodeEventCursor(page, 'asc', {}),
      types: null,
      createdAt: {},
    } as const;
    const listed = await this.#api.sessions.events(request.identity.workspaceId, sessionId, query);
    sendEventPage(reply, found(listed, 'session'), 'asc');
  }

  @Get(':thread_id/stream')
  async stream(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('session_id') id: string,
    @Param('thread_id') threadId: string,
    @Query() rawQuery: unknown,
  ): Promise<void> {
    const sessionId = parseId('session', id);
    const { event_deltas: previews = [] } = parseQuery(streamEventsQuerySchema, rawQuery);
    await this.#thread(request, sessionId, threadId);
    await serveStream(request, { sessionId, previews }, reply, { api: this.#api, streams: this.#streams });
  }

  async #thread(request: FastifyRequest, sessionId: SessionId, threadId: string): Promise<SessionThread> {
    const primary = await this.#primary(request, sessionId);
    return primary.id === threadId ? primary : notFound('thread');
  }

  async #primary({ identity }: FastifyRequest, sessionId: SessionId): Promise<SessionThread> {
    return found(await this.#api.sessions.thread(identity.workspaceId, sessionId), 'session');
  }
}
