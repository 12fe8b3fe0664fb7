/** A server and a model as processes of their own, and the few requests that measurements make of them. */
import type Anthropic from '@anthropic-ai/sdk';
import { preciseNow, script, type ScriptTurnInput } from '@manyhands/adapter-scripted-model';
import { Agent } from 'undici';
import { ServerProcess, testApiKey, type ServerOptions } from '../support/server-process.ts';
import { EventListener } from './event-listener.ts';
import { ModelProcess } from './model-process.ts';

const headers = {
  'x-api-key': testApiKey,
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'managed-agents-2026-04-01',
  'content-type': 'application/json',
};
const manyConnections = 2_000;

export class BenchPlatform {
  readonly server: ServerProcess;
  readonly model: ModelProcess;
  readonly #dispatcher = new Agent({ connections: manyConnections, pipelining: 1 });
  #agentId = '';
  #environmentId = '';

  private constructor(server: ServerProcess, model: ModelProcess) {
    this.server = server;
    this.model = model;
  }

  static async start(options: ServerOptions = {}): Promise<BenchPlatform> {
    const model = await ModelProcess.start();
    const env = { MANYHANDS_LOG_LEVEL: 'warn', ...options.env };
    try {
      const server = await ServerProcess.start({ modelUrl: model.baseUrl, ...options, env });
      const platform = new BenchPlatform(server, model);
      await platform.#makeAgent(server.client());
      return platform;
    } catch (error) {
      await model.stop();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
    await this.server.remove();
    await this.model.stop();
  }

  async #makeAgent(client: Anthropic): Promise<void> {
    const tools = [{ type: 'agent_toolset_20260401' as const }];
    const agent = await client.beta.agents.create({ name: 'Bench', model: 'claude-sonnet-5', tools });
    const environment = await client.beta.environments.create({ name: `bench-${crypto.randomUUID()}` });
    [this.#agentId, this.#environmentId] = [agent.id, environment.id];
  }

  async newSession(): Promise<string> {
    const body = { agent: this.#agentId, environment_id: this.#environmentId };
    return (await this.call<{ id: string }>('POST', '/v1/sessions', body)).id;
  }

  /** A few at a time. */
  async newSessions(count: number): Promise<string[]> {
    const ids: string[] = [];
    await concurrently(16, count, async () => void ids.push(await this.newSession()));
    return ids;
  }

  /** Takes one message whose answer is scripted; gives when it was sent. */
  async play(sessionId: string, turns: readonly ScriptTurnInput[], scriptId?: string): Promise<number> {
    return this.say(sessionId, script(turns, scriptId));
  }

  async say(sessionId: string, text: string): Promise<number> {
    return this.sendEvent(sessionId, { type: 'user.message', content: [{ type: 'text', text }] });
  }

  async sendEvent(sessionId: string, event: object): Promise<number> {
    const sentAt = preciseNow();
    await this.call('POST', `/v1/sessions/${sessionId}/events`, { events: [event] });
    return sentAt;
  }

  async call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    const answer = await this.#dispatcher.request({
      origin: this.server.url,
      path,
      method,
      headers,
      body: body ? JSON.stringify(body) : null,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
    return JSON.parse(text) as T;
  }

  async listen(sessionId: string, { previews = false } = {}): Promise<EventListener> {
    const query = previews ? '?event_deltas[]=agent.message' : '';
    return EventListener.open(`${this.server.url}/v1/sessions/${sessionId}/events/stream${query}`, headers);
  }

  /** One message, and wait until the session is idle again. */
  async turn(sessionId: string, listener: EventListener, text = 'Hello'): Promise<void> {
    const idle = listener.nextOf('session.status_idle');
    await this.say(sessionId, text);
    await idle;
  }

  /** Turns nobody counts: code compiled, connections open, pages in memory. */
  async warmUp(turns: number): Promise<void> {
    const sessions = await this.newSessions(8);
    await concurrently(sessions.length, sessions.length, async (index) => {
      const listener = await this.listen(sessions[index] as string, { previews: true });
      for (let i = 0; i < turns / sessions.length; i++) await this.turn(sessions[index] as string, listener);
      listener.close();
    });
  }

  async isReady(): Promise<boolean> {
    const { statusCode, body } = await this.#dispatcher.request({
      origin: this.server.url,
      path: '/readyz',
      method: 'GET',
    });
    await body.dump();
    return statusCode === 200;
  }

  /** A sample of `/metrics`, labels aside; 0 when there is none. */
  async metric(name: string): Promise<number> {
    const { body } = await this.#dispatcher.request({ origin: this.server.url, path: '/metrics', method: 'GET' });
    const line = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(await body.text());
    return Number(line?.[1] ?? 0);
  }
}

/** Calls for each number below `count`, that many at once. */
export async function concurrently(
  atOnce: number,
  count: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
}
