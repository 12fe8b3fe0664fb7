/** All parts of Manyhands in one process. */
import { startScriptedModel } from '@manyhands/adapter-scripted-model';
import { EmbeddedLiveBus, EmbeddedWorkers, SystemClock } from '@manyhands/adapter-embedded';
import { AnthropicModel, profileOf } from '@manyhands/adapter-model';
import { logContextPolicy, nextStep, settle } from '@manyhands/core';
import type { HttpServer } from '@manyhands/http';
import { createHttpServer, fixedApiKeys, PublicApiModule } from '@manyhands/http';
import type { ShutdownStep } from '@manyhands/platform';
import { Metrics } from '@manyhands/platform';
import type { Logger } from '@manyhands/ports';
import { formatId } from '@manyhands/protocol';
import {
  defaultHarnessSettings,
  HandSweep,
  newHarnessCounters,
  PromptCache,
  SessionLogService,
  Worker,
} from '@manyhands/runtime';
import type { Config } from './config.ts';
import { exposeMetrics } from './metrics.ts';
import { openData, type Data } from './open-data.ts';
import { openHands } from './open-hands.ts';

/** The one workspace of a standalone server; it needs no record, so its id is the same everywhere. */
const workspaceId = formatId('workspace', new Uint8Array(16));
const readerThreads = 2;
const handSweepMs = 30_000;

export interface Server {
  baseUrl: string;
  apiKey: Data['apiKey'];
  /** Nothing was ever run in this data directory. */
  isNew: boolean;
  /** What takes the server down, in order. */
  shutdown: ShutdownStep[];
}

export async function startServer(config: Config, logger: Logger): Promise<Server> {
  const data = await openData(config.dataDirectory, config.apiKey);
  const clock = new SystemClock();
  const liveBus = new EmbeddedLiveBus({ clock, logger });
  const prompts = new PromptCache(logContextPolicy);
  const erasers: ((sessionId: Parameters<PromptCache['forget']>[0]) => Promise<void>)[] = [];
  const log = new SessionLogService({
    topic: data.topic,
    blobs: data.blobs,
    keys: data.keys,
    clock,
    logger,
    copyPath: `${data.directory}/copy.db`,
    keysPath: `${data.directory}/keys.db`,
    readerThreads,
    defaultEffort: (model) => profileOf(model).defaultEffort,
    takeover: config.takeover,
    eraseElsewhere: async (sessionId) => {
      liveBus.clear(sessionId);
      prompts.forget(sessionId);
      for (const erase of erasers) await erase(sessionId);
    },
  });
  const { provider, egress, hands, webFetch } = await openHands({ config, data, log, clock, logger });
  erasers.push((sessionId) => provider.destroy(sessionId));
  const scripted = config.model ? null : await startScriptedModel();
  const model = new AnthropicModel({
    apiKey: config.model?.apiKey ?? 'scripted',
    baseUrl: scripted?.baseUrl ?? config.model?.baseUrl,
    silenceMs: config.modelSilenceMs,
  });
  const counters = newHarnessCounters();
  const worker = new Worker({
    log,
    workers: new EmbeddedWorkers(),
    model,
    profileOf,
    harness: { nextStep, settle },
    contextPolicy: logContextPolicy,
    prompts,
    hands,
    webFetch,
    webSearch: null,
    liveBus,
    clock,
    logger,
    settings: { ...defaultHarnessSettings, maxSessions: config.maxRunningSessions, takeover: config.takeover },
    counters,
  });
  const release = (sessionId: Parameters<PromptCache['forget']>[0]): Promise<void> => egress.close(sessionId);
  const sweep = new HandSweep({ provider, log, clock, logger, release, intervalMs: handSweepMs });
  const metrics = new Metrics({ service: 'standalone', processMetrics: true });
  exposeMetrics(metrics, { log, harness: counters, worker, egress });

  const api = {
    sessions: log,
    liveBus,
    clock,
    logger,
    metrics,
    options: {
      authenticate: fixedApiKeys([{ key: data.apiKey.key, apiKeyId: 'standalone', workspaceId }]),
      models: {
        hasPrice: (id: string) => profileOf(id).price !== null,
        defaultEffort: (id: string) => profileOf(id).defaultEffort,
        supportsMidConversationSystem: (id: string) => profileOf(id).midConversationSystem,
      },
      hasWebSearch: false,
      maxOpenStreams: config.maxOpenStreams,
      maxOpenStreamsPerKey: config.maxOpenStreams,
    },
  };
  const http: HttpServer = await createHttpServer(PublicApiModule.register(api), api);
  const listening = http.listen(config.port, config.host);
  const baseUrl = await listening;
  await log.start();
  worker.start();
  sweep.start();

  return {
    baseUrl,
    apiKey: data.apiKey,
    isNew: data.isNew,
    shutdown: [
      { name: 'readiness', run: () => http.beginDrain(), limitMs: 1_000 },
      { name: 'worker', run: () => worker.drain(config.drainMs), limitMs: config.drainMs + 5_000 },
      { name: 'requests', run: () => http.drain(5_000), limitMs: 6_000 },
      { name: 'http', run: () => http.close(), limitMs: 5_000 },
      { name: 'hands', run: () => sweep.stop(), limitMs: 10_000 },
      { name: 'egress', run: () => egress.closeAll(), limitMs: 5_000 },
      { name: 'log', run: () => log.stop(), limitMs: 10_000 },
      { name: 'model', run: async () => (model.close(), scripted?.close()), limitMs: 5_000 },
      { name: 'data', run: () => data.close(), limitMs: 10_000 },
    ],
  };
}
