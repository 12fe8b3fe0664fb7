/** A public API for specs that need a session log to behave in a certain way: what a spec does not script, throws. */
import { Metrics } from '@manyhands/platform';
import { silentLogger, type Clock, type LiveBus, type Logger, type SessionService } from '@manyhands/ports';
import type { WorkspaceId } from '@manyhands/protocol';
import type { FastifyInstance } from 'fastify';

import { fixedApiKeys } from '../api-keys.ts';
import { createHttpServer, type HttpServer } from '../http-server.ts';
import { PublicApiModule } from '../public-api.module.ts';
import type { PublicApi, PublicApiOptions } from '../public-api.ts';

export const workspaceId = 'wrkspc_01test' as WorkspaceId;
export const apiKey = 'test-key';
export const otherApiKey = 'other-key';

/** What an SDK sends with every request. */
export const sdkHeaders = {
  authorization: `Bearer ${apiKey}`,
  'anthropic-version': '2026-10-21',
  'anthropic-beta': 'managed-agents-2026-04-01',
};

export interface TestServerParts {
  sessions: SessionService;
  liveBus: LiveBus;
  clock: Clock;
  logger?: Logger;
  options?: Partial<PublicApiOptions>;
}

export interface TestServer extends HttpServer {
  inject: FastifyInstance['inject'];
  api: PublicApi;
}

/** A session service of which a spec says only what it needs. */
export function scripted(parts: Partial<SessionService>): SessionService {
  return { ...unscripted, ...parts };
}

const unscripted: SessionService = {
  execute: () => fail(),
  session: () => fail(),
  sessionAtCreate: () => fail(),
  sessions: () => fail(),
  thread: () => fail(),
  eventsOf: () => fail(),
  events: () => fail(),
  follow: () => fail(),
  agent: () => fail(),
  agents: () => fail(),
  agentVersions: () => fail(),
  environment: () => fail(),
  environments: () => fail(),
  ready: () => true,
};

export async function createTestServer({
  sessions,
  liveBus,
  clock,
  logger,
  options,
}: TestServerParts): Promise<TestServer> {
  const api: PublicApi = {
    sessions,
    liveBus,
    clock,
    logger: logger ?? silentLogger,
    metrics: new Metrics({ service: 'test' }),
    options: { ...standardOptions, ...options },
  };
  const server = await createHttpServer(PublicApiModule.register(api), api);
  const instance: FastifyInstance = server.app.getHttpAdapter().getInstance();
  return { ...server, api, inject: instance.inject.bind(instance) };
}

const standardOptions: PublicApiOptions = {
  authenticate: fixedApiKeys([
    { key: apiKey, apiKeyId: 'apikey_1', workspaceId },
    { key: otherApiKey, apiKeyId: 'apikey_2', workspaceId },
  ]),
  models: {
    hasPrice: (model) => !model.startsWith('free'),
    defaultEffort: () => 'high',
    supportsMidConversationSystem: (model) => !model.startsWith('old'),
  },
  hasWebSearch: false,
  maxOpenStreams: 10_000,
  maxOpenStreamsPerKey: 10_000,
};

function fail(): never {
  throw new Error('the spec did not script this');
}
