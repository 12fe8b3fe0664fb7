/** For whoever runs the process; no key, and nothing in the answers that would need one. */
import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

import { Drain } from './drain.ts';
import { PUBLIC_API, type PublicApi } from './public-api.ts';

@Controller()
export class HealthController {
  readonly #api: PublicApi;
  readonly #drain: Drain;

  constructor(@Inject(PUBLIC_API) api: PublicApi, @Inject(Drain) drain: Drain) {
    this.#api = api;
    this.#drain = drain;
  }

  @Get('livez')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Ready: the log is caught up, and nobody has asked the process to end. */
  @Get('readyz')
  ready(@Res() reply: FastifyReply): void {
    const status = this.#drain.isDraining ? 'draining' : this.#api.sessions.ready() ? 'ok' : 'catching up';
    void reply.code(status === 'ok' ? 200 : 503).send({ status });
  }

  @Get('metrics')
  async metrics(@Res() reply: FastifyReply): Promise<void> {
    const { contentType, text } = await this.#api.metrics.render();
    void reply.header('content-type', contentType).send(text);
  }
}
