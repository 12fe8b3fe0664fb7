import type { SessionListQuery } from '@manyhands/ports';
import {
  createSessionBodySchema,
  listSessionsQuerySchema,
  unsupportedInSessionAgent,
  updateSessionBodySchema,
  type AgentId,
  type BidirectionalPage,
  type DeletedSession,
  type ListSessionsQuery,
  type Session,
  type SessionId,
} from '@manyhands/protocol';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

import { doneOrRefuse } from './api-error.ts';
import { createSession } from './create-session.ts';
import { decodeResourceCursor, type ResourcePosition } from './cursors.ts';
import { bidirectionalPage } from './list-pages.ts';
import { found, parseBody, parseId, parseQuery, refuseUnsupported } from './parse.ts';
import { PUBLIC_API, type PublicApi } from './public-api.ts';
import { markOf } from './request-context.ts';
import { OpenStreams } from './stream/open-streams.ts';
import { updateSessionCommand } from './update-session.ts';

@Controller('v1/sessions')
export class SessionsController {
  readonly #api: PublicApi;
  readonly #streams: OpenStreams;

  constructor(@Inject(PUBLIC_API) api: PublicApi, @Inject(OpenStreams) streams: OpenStreams) {
    this.#api = api;
    this.#streams = streams;
  }

  @Post()
  @HttpCode(200)
  async create(@Req() request: FastifyRequest, @Body() rawBody: unknown): Promise<Session> {
    refuseUnsupported(unsupportedInSessionAgent(rawBody));
    const body = parseBody(createSessionBodySchema, rawBody);
    const context = { identity: request.identity, mark: markOf(request) };
    return createSession(body, context, { api: this.#api, streams: this.#streams });
  }

  @Get()
  async list(@Req() request: FastifyRequest, @Query() rawQuery: unknown): Promise<BidirectionalPage<Session>> {
    const query = parseQuery(listSessionsQuerySchema, rawQuery);
    const position = decodeResourceCursor(query.page, 'sessions', query.order, query.created_at);
    // No session has a deployment or a memory store yet.
    if (query.deployment_id !== undefined || query.memory_store_id !== undefined) return emptyPage;
    const listed = await this.#api.sessions.sessions(listQuery(query, position, request));
    return bidirectionalPage(listed, 'sessions', query.order, position);
  }

  @Get(':session_id')
  async get(@Req() request: FastifyRequest, @Param('session_id') id: string): Promise<Session> {
    return this.#read(request, parseId('session', id));
  }

  @Post(':session_id')
  @HttpCode(200)
  async update(
    @Req() request: FastifyRequest,
    @Param('session_id') id: string,
    @Body() rawBody: unknown,
  ): Promise<Session> {
    const sessionId = parseId('session', id);
    refuseUnsupported(unsupportedInSessionAgent(rawBody));
    const body = parseBody(updateSessionBodySchema, rawBody);
    const context = { identity: request.identity, mark: markOf(request) };
    const command = await updateSessionCommand(body, sessionId, context, this.#api);
    doneOrRefuse(await this.#api.sessions.execute(command));
    return this.#read(request, sessionId);
  }

  @Delete(':session_id')
  async delete(@Req() request: FastifyRequest, @Param('session_id') id: string): Promise<DeletedSession> {
    const sessionId = parseId('session', id);
    const { workspaceId } = request.identity;
    const command = { type: 'delete-session', workspaceId, idempotency: null, sessionId } as const;
    doneOrRefuse(await this.#api.sessions.execute(command));
    return { type: 'session_deleted', id: sessionId };
  }

  @Post(':session_id/archive')
  @HttpCode(200)
  async archive(@Req() request: FastifyRequest, @Param('session_id') id: string): Promise<Session> {
    const sessionId = parseId('session', id);
    const { workspaceId } = request.identity;
    const command = { type: 'archive-session', workspaceId, idempotency: markOf(request), sessionId } as const;
    doneOrRefuse(await this.#api.sessions.execute(command));
    return this.#read(request, sessionId);
  }

  async #read({ identity }: FastifyRequest, id: SessionId): Promise<Session> {
    return found(await this.#api.sessions.session(identity.workspaceId, id), 'session');
  }
}

const emptyPage: BidirectionalPage<Session> = { data: [], next_page: null, prev_page: null };

function listQuery(
  query: ListSessionsQuery,
  position: ResourcePosition | null,
  { identity }: FastifyRequest,
): SessionListQuery {
  const agentId = (query.agent_id ?? null) as AgentId | null;
  return {
    workspaceId: identity.workspaceId,
    limit: query.limit,
    order: query.order,
    after: position?.at ?? null,
    backwards: position?.backwards ?? false,
    createdAt: query.created_at,
    includeArchived: query.include_archived,
    statuses: query.statuses ?? null,
    agentId,
    agentVersion: agentId === null ? null : (query.agent_version ?? null),
  };
}
