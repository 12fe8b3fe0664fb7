/** One process of the platform: a replica of the session log and a harness worker that uses it, or another node's. */
import { logContextPolicy, nextStep, settle } from '@manyhands/core';
import type {
  HandConnector,
  LiveBus,
  Logger,
  ModelProfile,
  SandboxProvider,
  SessionLog,
  Topic,
  WebFetch,
} from '@manyhands/ports';
import { environmentSettings } from '@manyhands/ports/testing';
import { formatId } from '@manyhands/protocol';
import type { Incarnation } from '@manyhands/protocol';
import {
  HandsOfSession,
  PromptCache,
  SessionLogService,
  Worker,
  defaultHarnessSettings,
  newHarnessCounters,
} from '@manyhands/runtime';
import type { Chance } from './chance.ts';
import { gatedConnector, gatedProvider } from './gated-hands.ts';
import type { SimProcess } from './process.ts';
import { RoutedLog } from './routed-log.ts';
import { answerTo } from './script.ts';
import { SimModel } from './sim-model.ts';
import { SimTopic } from './sim-topic.ts';
import type { SimWorkers } from './sim-workers.ts';
import type { World } from './world.ts';

export class SimNode {
  readonly process: SimProcess;
  readonly service: SessionLogService;
  readonly worker: Worker;
  readonly workers: SimWorkers;
  isReady = false;
  readonly #world: World;

  constructor(world: World, process: SimProcess, chance: Chance) {
    this.#world = world;
    this.process = process;
    this.workers = world.fleet.join(formatId('incarnation', chance.bytes(16)));
    const logger = world.loggerOf(process);
    this.service = new SessionLogService({
      topic: this.#topic(chance.fork()),
      blobs: world.blobs,
      keys: world.keys,
      clock: process.clock,
      logger,
      copyPath: ':memory:',
      keysPath: ':memory:',
      readerThreads: 0,
      defaultEffort: () => 'medium',
      takeover: world.plan.takeover,
      eraseElsewhere: (sessionId) => world.hands.destroy(sessionId),
    });
    this.worker = this.#newWorker(logger, chance);
  }

  get incarnation(): Incarnation {
    return this.workers.self;
  }

  /** False when it could not start; a supervisor would start it again. */
  async start(): Promise<boolean> {
    try {
      await this.service.start();
    } catch {
      return false; // The topic was away for too long.
    }
    this.isReady = true;
    this.worker.start();
    return true;
  }

  #topic(chance: Chance): Topic {
    const world = this.#world;
    const topic = new SimTopic(world.topic, this.process, chance, () => world.topicFaults);
    return world.mutant.topic?.(topic) ?? topic;
  }

  #newWorker(logger: Logger, chance: Chance): Worker {
    const world = this.#world;
    const { process } = this;
    const { clock } = process;
    const routed = new RoutedLog(world, this, chance.fork());
    const log: SessionLog = world.mutant.log?.(routed) ?? routed;
    const provider: SandboxProvider = gatedProvider(world.hands, process);
    const connector: HandConnector = gatedConnector(world.hands, process);
    return new Worker({
      log,
      workers: this.workers,
      model: this.#newModel(chance.fork()),
      profileOf: () => profileWith(world.plan.contextWindowTokens),
      harness: { nextStep, settle },
      contextPolicy: logContextPolicy,
      prompts: new PromptCache(logContextPolicy),
      hands: new HandsOfSession({ provider, connector, environmentOf: async () => environmentSettings, clock }),
      webFetch: noWeb,
      webSearch: null,
      liveBus: noBus,
      clock,
      logger,
      settings: {
        ...defaultHarnessSettings,
        takeover: world.plan.takeover,
        maxModelFailures: world.plan.maxModelFailures,
      },
      counters: newHarnessCounters(),
    });
  }

  #newModel(chance: Chance): SimModel {
    const { plan } = this.#world;
    return new SimModel({
      answerTo,
      pause: (signal) =>
        this.process.sleep(chance.happens(0.05) ? chance.between(100, 3_000) : chance.between(0, 60), signal),
      faultOf: () => {
        if (!chance.happens(plan.modelFailures)) return null;
        return { code: chance.pick(['overloaded', 'rate_limited', 'cut_stream', 'connection'] as const) };
      },
    });
  }
}

function profileWith(contextWindowTokens: number): ModelProfile {
  return {
    match: '*',
    contextWindowTokens,
    maxOutputTokens: 1_000,
    defaultEffort: 'medium',
    thinking: false,
    promptCaching: false,
    midConversationSystem: true,
    price: null,
  };
}

const noWeb: WebFetch = { fetch: async () => ({ isError: true, content: [] }) };

const noBus: LiveBus = {
  publish: () => undefined,
  subscribe: () => () => undefined,
  placeGrace: async () => undefined,
  readGrace: async () => null,
  raiseGrace: async () => undefined,
};
