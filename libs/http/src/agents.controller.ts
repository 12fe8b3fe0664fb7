import {
  createAgentBodySchema,
  getAgentQuerySchema,
  listAgentsQuerySchema,
  listAgentVersionsQuerySchema,
  resolveAgent,
  unsupportedInAgent,
  updateAgentBodySchema,
  type Agent,
  type AgentId,
  type Page,
} from '@manyhands/protocol';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

import { doneOrRefuse } from './api-error.ts';
import { withAvailableTools } from './client-events.ts';
import { decodeResourceCursor, decodeVersionCursor, encodeVersionCursor } from './cursors.ts';
import { newId } from './idempotency.ts';
import { resourcePage } from './list-pages.ts';
import { found, parseBody, parseId, parseQuery, refuseUnsupported } from './parse.ts';
import { PUBLIC_API, type PublicApi } from './public-api.ts';
import { markOf } from './request-context.ts';

const firstVersion = 1;

@Controller('v1/agents')
export class AgentsController {
  readonly #api: PublicApi;

  constructor(@Inject(PUBLIC_API) api: PublicApi) {
    this.#api = api;
  }

  @Post()
  @HttpCode(200)
  async create(@Req() request: FastifyRequest, @Body() rawBody: unknown): Promise<Agent> {
    refuseUnsupported(unsupportedInAgent(rawBody));
    const { models, hasWebSearch } = this.#api.options;
    const body = withAvailableTools(parseBody(createAgentBodySchema, rawBody), hasWebSearch);
    const { workspaceId } = request.identity;
    const idempotency = markOf(request);
    const agentId = newId('agent', idempotency, this.#api.clock);
    const config = resolveAgent(body, (model) => models.defaultEffort(model));
    const command = { type: 'create-agent', workspaceId, idempotency, agentId, config } as const;
    doneOrRefuse(await this.#api.sessions.execute(command));
    return this.#read(request, agentId, firstVersion);
  }

  @Get()
  async list(@Req() request: FastifyRequest, @Query() rawQuery: unknown): Promise<Page<Agent>> {
    const query = parseQuery(listAgentsQuerySchema, rawQuery);
    const order = 'desc';
    const position = decodeResourceCursor(query.page, 'agents', order, query.created_at);
    const listed = await this.#api.sessions.agents({
      workspaceId: request.identity.workspaceId,
      limit: query.limit,
      order,
      after: position?.at ?? null,
      createdAt: query.created_at,
      includeArchived: query.include_archived,
    });
    return resourcePage(listed, 'agents', order);
  }

  @Get(':agent_id')
  async get(@Req() request: FastifyRequest, @Param('agent_id') id: string, @Query() rawQuery: unknown): Promise<Agent> {
    const { version } = parseQuery(getAgentQuerySchema, rawQuery);
    return this.#read(request, parseId('agent', id), version ?? null);
  }

  @Post(':agent_id')
  @HttpCode(200)
  async update(
    @Req() request: FastifyRequest,
    @Param('agent_id') id: string,
    @Body() rawBody: unknown,
  ): Promise<Agent> {
    const agentId = parseId('agent', id);
    refuseUnsupported(unsupportedInAgent(rawBody));
    const body = withAvailableTools(parseBody(updateAgentBodySchema, rawBody), this.#api.options.hasWebSearch);
    const { workspaceId } = request.identity;
    const command = { type: 'update-agent', workspaceId, idempotency: markOf(request), agentId, body } as const;
    doneOrRefuse(await this.#api.sessions.execute(command));
    return this.#read(request, agentId, null);
  }

  @Post(':agent_id/archive')
  @HttpCode(200)
  async archive(@Req() request: FastifyRequest, @Param('agent_id') id: string): Promise<Agent> {
    const agentId = parseId('agent', id);
    const { workspaceId } = request.identity;
    const command = { type: 'archive-agent', workspaceId, idempotency: markOf(request), agentId } as const;
    doneOrRefuse(await this.#api.sessions.execute(command));
    return this.#read(request, agentId, null);
  }

  @Get(':agent_id/versions')
  async versions(
    @Req() request: FastifyRequest,
    @Param('agent_id') id: string,
    @Query() rawQuery: unknown,
  ): Promise<Page<Agent>> {
    const query = parseQuery(listAgentVersionsQuerySchema, rawQuery);
    const range = { limit: query.limit, before: decodeVersionCursor(query.page) };
    const { workspaceId } = request.identity;
    const { items, hasMore } = found(
      await this.#api.sessions.agentVersions(workspaceId, parseId('agent', id), range),
      'agent',
    );
    const last = items.at(-1);
    return { data: items, next_page: last && hasMore ? encodeVersionCursor(last.version) : null };
  }

  async #read({ identity }: FastifyRequest, id: AgentId, version: number | null): Promise<Agent> {
    const agent = await this.#api.sessions.agent(identity.workspaceId, id, version);
    return found(agent, version === null ? 'agent' : `version ${version} of an agent`).value;
  }
}
