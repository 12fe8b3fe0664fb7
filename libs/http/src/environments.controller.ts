import {
  createEnvironmentBodySchema,
  listEnvironmentsQuerySchema,
  resolveEnvironment,
  unsupportedInEnvironment,
  updateEnvironmentBodySchema,
  type DeletedEnvironment,
  type Environment,
  type EnvironmentId,
  type Page,
} from '@manyhands/protocol';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

import { ApiError, doneOrRefuse } from './api-error.ts';
import { decodeResourceCursor } from './cursors.ts';
import { newId } from './idempotency.ts';
import { resourcePage } from './list-pages.ts';
import { foundEnvironment, parseBody, parseEnvironmentId, parseQuery, refuseUnsupported } from './parse.ts';
import { PUBLIC_API, type PublicApi } from './public-api.ts';
import { markOf } from './request-context.ts';

@Controller('v1/environments')
export class EnvironmentsController {
  readonly #api: PublicApi;

  constructor(@Inject(PUBLIC_API) api: PublicApi) {
    this.#api = api;
  }

  @Post()
  @HttpCode(200)
  async create(@Req() request: FastifyRequest, @Body() rawBody: unknown): Promise<Environment> {
    const body = parseBody(createEnvironmentBodySchema, rawBody);
    refuseUnsupported(unsupportedInEnvironment(body));
    const { workspaceId } = request.identity;
    const idempotency = markOf(request);
    const environmentId = newId('environment', idempotency, this.#api.clock);
    const settings = resolveEnvironment(body);
    const command = { type: 'create-environment', workspaceId, idempotency, environmentId, settings } as const;
    const done = doneOrRefuse(await this.#api.sessions.execute(command));
    const made = await this.#api.sessions.environment(workspaceId, environmentId);
    if (made) return made.value;
    throw new ApiError(
      done.repeated ? 'idempotency_key_reused' : 'environment_not_found',
      'The environment that was made here has been deleted.',
    );
  }

  @Get()
  async list(@Req() request: FastifyRequest, @Query() rawQuery: unknown): Promise<Page<Environment>> {
    const query = parseQuery(listEnvironmentsQuerySchema, rawQuery);
    const order = 'desc';
    const listed = await this.#api.sessions.environments({
      workspaceId: request.identity.workspaceId,
      limit: query.limit,
      order,
      after: decodeResourceCursor(query.page, 'environments', order)?.at ?? null,
      createdAt: {},
      includeArchived: query.include_archived,
    });
    return resourcePage(listed, 'environments', order);
  }

  @Get(':environment_id')
  async get(@Req() request: FastifyRequest, @Param('environment_id') id: string): Promise<Environment> {
    return this.#read(request, parseEnvironmentId(id));
  }

  @Post(':environment_id')
  @HttpCode(200)
  async update(
    @Req() request: FastifyRequest,
    @Param('environment_id') id: string,
    @Body() rawBody: unknown,
  ): Promise<Environment> {
    const environmentId = parseEnvironmentId(id);
    const body = parseBody(updateEnvironmentBodySchema, rawBody);
    refuseUnsupported(unsupportedInEnvironment(body));
    const { workspaceId } = request.identity;
    const idempotency = markOf(request);
    const command = { type: 'update-environment', workspaceId, idempotency, environmentId, body } as const;
    doneOrRefuse(await this.#api.sessions.execute(command));
    return this.#read(request, environmentId);
  }

  @Delete(':environment_id')
  async delete(@Req() request: FastifyRequest, @Param('environment_id') id: string): Promise<DeletedEnvironment> {
    const environmentId = parseEnvironmentId(id);
    const { workspaceId } = request.identity;
    const command = { type: 'delete-environment', workspaceId, idempotency: null, environmentId } as const;
    doneOrRefuse(await this.#api.sessions.execute(command));
    return { type: 'environment_deleted', id: environmentId };
  }

  @Post(':environment_id/archive')
  @HttpCode(200)
  async archive(@Req() request: FastifyRequest, @Param('environment_id') id: string): Promise<Environment> {
    const environmentId = parseEnvironmentId(id);
    const { workspaceId } = request.identity;
    const command = { type: 'archive-environment', workspaceId, idempotency: markOf(request), environmentId } as const;
    doneOrRefuse(await this.#api.sessions.execute(command));
    return this.#read(request, environmentId);
  }

  async #read({ identity }: FastifyRequest, id: EnvironmentId): Promise<Environment> {
    return foundEnvironment(await this.#api.sessions.environment(identity.workspaceId, id)).value;
  }
}
