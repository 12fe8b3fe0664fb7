import {
  listEventsQuerySchema,
  sendEventsBodySchema,
  streamEventsQuerySchema,
  type SessionEvent,
} from '@manyhands/protocol';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { decodeEventCursor } from './cursors.ts';
import { sendEventPage } from './list-pages.ts';
import { found, parseBody, parseId, parseQuery } from './parse.ts';
import { PUBLIC_API, type PublicApi } from './public-api.ts';
import { markOf } from './request-context.ts';
import { sendEvents } from './send-events.ts';
import { OpenStreams } from './stream/open-streams.ts';
import { serveStream } from './stream/serve-stream.ts';

@Controller('v1/sessions/:session_id/events')
export class EventsController {
  readonly #api: PublicApi;
  readonly #streams: OpenStreams;

  constructor(@Inject(PUBLIC_API) api: PublicApi, @Inject(OpenStreams) streams: OpenStreams) {
    this.#api = api;
    this.#streams = streams;
  }

  @Get()
  async list(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('session_id') id: string,
    @Query() rawQuery: unknown,
  ): Promise<void> {
    const sessionId = parseId('session', id);
    const { limit, order, types, page, created_at: createdAt } = parseQuery(listEventsQuerySchema, rawQuery);
    const after = decodeEventCursor(page, order, createdAt);
    const query = { order, limit, after, types: types ?? null, createdAt };
    const listed = await this.#api.sessions.events(request.identity.workspaceId, sessionId, query);
    sendEventPage(reply, found(listed, 'session'), order);
  }

  @Post()
  @HttpCode(200)
  async send(
    @Req() request: FastifyRequest,
    @Param('session_id') id: string,
    @Body() rawBody: unknown,
  ): Promise<{ data: SessionEvent[] }> {
    const sessionId = parseId('session', id);
    const body = parseBody(sendEventsBodySchema, rawBody);
    const context = { identity: request.identity, mark: markOf(request) };
    return { data: await sendEvents(body, sessionId, context, { api: this.#api, streams: this.#streams }) };
  }

  @Get('stream')
  async stream(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('session_id') id: string,
    @Query() rawQuery: unknown,
  ): Promise<void> {
    const sessionId = parseId('session', id);
    const { event_deltas: previews = [] } = parseQuery(streamEventsQuerySchema, rawQuery);
    await serveStream(request, { sessionId, previews }, reply, { api: this.#api, streams: this.#streams });
  }
}
