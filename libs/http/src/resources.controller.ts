/** Files, repositories and memory stores of a session: none can be attached yet, so a session has none. */
import type { Page, SessionResource } from '@manyhands/protocol';
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

import { ApiError } from './api-error.ts';
import { found, notFound, parseId } from './parse.ts';
import { PUBLIC_API, type PublicApi } from './public-api.ts';

@Controller('v1/sessions/:session_id/resources')
export class ResourcesController {
  readonly #api: PublicApi;

  constructor(@Inject(PUBLIC_API) api: PublicApi) {
    this.#api = api;
  }

  @Get()
  async list(@Req() request: FastifyRequest, @Param('session_id') id: string): Promise<Page<SessionResource>> {
    await this.#requireSession(request, id);
    return { data: [], next_page: null };
  }

  @Post()
  @HttpCode(200)
  async add(@Req() request: FastifyRequest, @Param('session_id') id: string): Promise<SessionResource> {
    await this.#requireSession(request, id);
    throw new ApiError('not_supported', 'Session resources are not available in this version.');
  }

  @Get(':resource_id')
  async get(@Req() request: FastifyRequest, @Param('session_id') id: string): Promise<SessionResource> {
    await this.#requireSession(request, id);
    return notFound('resource');
  }

  @Post(':resource_id')
  @HttpCode(200)
  async update(@Req() request: FastifyRequest, @Param('session_id') id: string): Promise<SessionResource> {
    await this.#requireSession(request, id);
    return notFound('resource');
  }

  @Delete(':resource_id')
  async delete(@Req() request: FastifyRequest, @Param('session_id') id: string): Promise<never> {
    await this.#requireSession(request, id);
    return notFound('resource');
  }

  async #requireSession({ identity }: FastifyRequest, id: string): Promise<void> {
    found(await this.#api.sessions.session(identity.workspaceId, parseId('session', id)), 'session');
  }
}
