/** What an end-to-end test file works with: a server of its own, and the model behind it in the test's process. */
import type Anthropic from '@anthropic-ai/sdk';
import { startScriptedModel, type ScriptedModel } from '@manyhands/adapter-scripted-model';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { Conversation } from './conversation.ts';
import { ServerProcess, type ServerOptions } from './server-process.ts';

export type AgentParams = Partial<Anthropic.Beta.Agents.AgentCreateParams>;
export type SessionParams = Partial<Anthropic.Beta.Sessions.SessionCreateParams> & {
  /** No stream is opened beside the test's own. */
  record?: boolean;
};

/** A model with a list price, so that it may have a budget. */
export const modelId = 'claude-sonnet-5';
export const builtinTools = [{ type: 'agent_toolset_20260401' as const }];

/** Sandboxes outlive their server by this, so that a run of many tests does not fill the machine. */
const handIdleSeconds = '30';

export class Platform {
  #server: ServerProcess | null = null;
  #model: ScriptedModel | null = null;
  #client: Anthropic | null = null;
  #environmentId: string | null = null;
  #agentId: string | null = null;
  readonly #conversations: Conversation[] = [];

  get server(): ServerProcess {
    return started(this.#server);
  }

  get model(): ScriptedModel {
    return started(this.#model);
  }

  /** The official client; it does not retry. */
  get client(): Anthropic {
    return started(this.#client);
  }

  async start(options: ServerOptions): Promise<void> {
    this.#model = await startScriptedModel();
    const env = { MANYHANDS_HAND_IDLE_SECONDS: handIdleSeconds, ...options.env };
    this.#server = await ServerProcess.start({ modelUrl: this.#model.baseUrl, ...options, env });
    this.#client = this.#server.client();
  }

  async close(): Promise<void> {
    for (const conversation of this.#conversations) await conversation.stopRecording();
    await this.#server?.remove();
    await this.#model?.close();
  }

  async environmentId(): Promise<string> {
    const name = `environment-${crypto.randomUUID()}`;
    return (this.#environmentId ??= (await this.client.beta.environments.create({ name })).id);
  }

  /** A new agent with all built-in tools, unless told otherwise. */
  async agent(params: AgentParams = {}): Promise<Anthropic.Beta.Agents.BetaManagedAgentsAgent> {
    return this.client.beta.agents.create({ name: 'Tester', model: modelId, tools: builtinTools, ...params });
  }

  /** A session on the file's common agent and environment, unless told otherwise. Its history is checked after the test. */
  async session({ record = true, ...params }: SessionParams = {}): Promise<Conversation> {
    const agent = params.agent ?? (this.#agentId ??= (await this.agent()).id);
    const environmentId = params.environment_id ?? (await this.environmentId());
    const session = await this.client.beta.sessions.create({ ...params, agent, environment_id: environmentId });
    return this.follow(session.id, { record });
  }

  async follow(sessionId: string, options: { record?: boolean } = {}): Promise<Conversation> {
    const conversation = await Conversation.open(this.client, sessionId, options);
    this.#conversations.push(conversation);
    return conversation;
  }

  /** A session whose agent has one custom tool or more, and the built-in ones. */
  async sessionWithCustomTools(names: readonly string[], params: SessionParams = {}): Promise<Conversation> {
    const custom = names.map((name) => ({
      type: 'custom' as const,
      name,
      description: `Asks the client for ${name}.`,
      input_schema: { type: 'object' as const, properties: {} },
    }));
    const agent = await this.agent({ tools: [...builtinTools, ...custom] });
    return this.session({ ...params, agent: agent.id });
  }

  /** A session in which these built-in tools wait for the client's word. */
  async sessionThatAsks(
    tools: readonly ('bash' | 'write' | 'read')[],
    params: SessionParams = {},
  ): Promise<Conversation> {
    const configs = tools.map((name) => ({ name, permission_policy: { type: 'always_ask' as const } }));
    const agent = await this.agent({ tools: [{ type: 'agent_toolset_20260401', configs }] });
    return this.session({ ...params, agent: agent.id });
  }

  /** Every history that the test made obeys the order of events, and its stream said the same. */
  async checkHistories(): Promise<void> {
    if (this.server.unexpectedEnd) throw this.server.unexpectedEnd;
    for (const conversation of this.#conversations.splice(0)) {
      const isThere = await this.client.beta.sessions.retrieve(conversation.id).then(Boolean, () => false);
      const faults = isThere ? await conversation.faults() : [];
      await conversation.stopRecording();
      expect(faults, `history of ${conversation.id}`).toEqual([]);
    }
  }
}

/** Starts a platform for the tests of a file, and checks the histories after each of them. */
export function usePlatform(options: ServerOptions | (() => Promise<ServerOptions>) = {}): Platform {
  const platform = new Platform();
  beforeAll(async () => platform.start(typeof options === 'function' ? await options() : options));
  afterEach(() => platform.checkHistories());
  afterAll(() => platform.close());
  return platform;
}

function started<T>(part: T | null): T {
  if (part === null) throw new Error('the platform has not been started');
  return part;
}
