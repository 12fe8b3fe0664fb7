/** The scripted model as a process of its own: its work must not slow the process that measures. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { LoggedRequest } from '@manyhands/adapter-scripted-model';
import { request } from 'undici';

const main = path.resolve(import.meta.dirname, '../../libs/adapters/scripted-model/dist/main.js');

export class ModelProcess {
  readonly baseUrl: string;
  readonly #child: ChildProcess;

  private constructor(baseUrl: string, child: ChildProcess) {
    this.baseUrl = baseUrl;
    this.#child = child;
  }

  static async start(): Promise<ModelProcess> {
    const child = spawn(process.execPath, [main], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [address] = (await once(createInterface(child.stdout), 'line')) as [string];
    return new ModelProcess(address, child);
  }

  /** What arrived, by the id of the script that was played; in the order of arrival. */
  async requestsByScript(): Promise<Map<string, LoggedRequest[]>> {
    const { body } = await request(`${this.baseUrl}/_scripted/requests`);
    const { requests } = (await body.json()) as { requests: LoggedRequest[] };
    return Map.groupBy(requests, (logged) => logged.conversation);
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
