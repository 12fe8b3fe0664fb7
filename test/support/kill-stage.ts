/** What a kill test works with: a scripted model in the test's own process, and a server that may die. */
import { startScriptedModel, type ScriptedModel } from '@manyhands/adapter-scripted-model';
import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll } from 'vitest';
import { listAll } from './conversation.ts';
import { HandFiles } from './hand-files.ts';
import { builtinTools, modelId } from './platform.ts';
import { ServerProcess, type ServerOptions } from './server-process.ts';
import { SessionDriver } from './session-driver.ts';
import { SteadyClient } from './steady-client.ts';
import type { SessionEvent } from './stream-recorder.ts';

type AgentParams = Partial<Anthropic.Beta.Agents.AgentCreateParams>;

export class KillStage {
  readonly model: ScriptedModel;
  readonly server: ServerProcess;
  readonly client: SteadyClient;
  readonly hands: HandFiles;
  readonly environmentId: string;
  readonly #drivers = new Set<SessionDriver>();
  #agentId: Promise<string> | null = null;

  private constructor(model: ScriptedModel, server: ServerProcess, client: SteadyClient, environmentId: string) {
    this.model = model;
    this.server = server;
    this.client = client;
    this.hands = new HandFiles(server.dataDirectory);
    this.environmentId = environmentId;
  }

  static async open(options: ServerOptions = {}): Promise<KillStage> {
    const model = await startScriptedModel();
    const server = await ServerProcess.start({ modelUrl: model.baseUrl, ...options });
    const client = new SteadyClient(server);
    const environment = await client.write((api, options) => api.beta.environments.create({ name: 'killed' }, options));
    return new KillStage(model, server, client, environment.id);
  }

  async close(): Promise<void> {
    for (const driver of this.#drivers) await driver.follower.close();
    await this.server.remove();
    await this.model.close();
  }

  async newAgent(params: AgentParams = {}): Promise<string> {
    const agent = await this.client.write((api, options) =>
      api.beta.agents.create({ name: 'Killed', model: modelId, tools: builtinTools, ...params }, options),
    );
    return agent.id;
  }

  /** A session on the stage's common agent, unless told otherwise. */
  async session(agentId?: string): Promise<SessionDriver> {
    const agent = agentId ?? (await (this.#agentId ??= this.newAgent()));
    const params = { agent, environment_id: this.environmentId };
    const driver = await SessionDriver.open(this.server, this.client, params);
    this.#drivers.add(driver);
    return driver;
  }

  async history(driver: SessionDriver): Promise<SessionEvent[]> {
    return this.client.read((api) => listAll(api, driver.id));
  }

  async restart(): Promise<void> {
    await this.server.kill();
    await this.server.start();
  }
}

/** One for all tests of a file. */
export function useKillStage(options: ServerOptions = {}): { readonly stage: KillStage } {
  let stage: KillStage | null = null;
  beforeAll(async () => {
    stage = await KillStage.open(options);
  });
  afterAll(() => stage?.close());
  return {
    get stage() {
      if (!stage) throw new Error('the stage has not been opened');
      return stage;
    },
  };
}
