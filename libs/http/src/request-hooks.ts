/** What happens to every request before its body is read, and after its answer. */
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { identify } from './api-keys.ts';
import { checkBeta } from './beta-header.ts';
import type { Drain } from './drain.ts';
import type { PublicApi } from './public-api.ts';
import { pathOf } from './request-context.ts';

/** Everything else needs a key, what is added later included. */
const openRoutes = new Set(['/livez', '/readyz', '/metrics']);

/**
 * The path that decides who may pass. For a known route it is the route's own: the router decodes paths, and what it reads
 * must not differ from what is checked.
 */
function checkedPath(request: FastifyRequest): string {
  return request.routeOptions.url ?? pathOf(request.url);
}

export function addRequestHooks(
  instance: FastifyInstance,
  { metrics, logger, options }: PublicApi,
  drain: Drain,
): void {
  instance.addHook('onRequest', async (request, reply) => {
    void reply.header('request-id', request.id);
    if (drain.isDraining) void reply.header('connection', 'close');
    const path = checkedPath(request);
    const isOpen = request.is404 ? !path.startsWith('/v1/') : openRoutes.has(path);
    if (isOpen) return;
    request.identity = await identify(request.headers, options.authenticate);
    checkBeta(path, request.headers['anthropic-beta']);
  });

  const seconds = metrics.histogram({
    name: 'http_request_seconds',
    help: 'Time from request to answer, event streams apart.',
    labels: ['method', 'route', 'status'],
  });
  instance.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? '(none)';
    // A stream lasts as long as its client wants, and would hide all others.
    if (!request.isStreaming) {
      seconds.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    }
    const { id: requestId, method } = request;
    logger.debug({ requestId, method, route, status: reply.statusCode, ms: reply.elapsedTime }, 'answered');
    done();
  });
}
