/** The standalone server as its users run it: its own process from dist, killed by its id. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Anthropic from '@anthropic-ai/sdk';

const root = path.resolve(import.meta.dirname, '../..');
const main = path.join(root, 'apps/standalone/dist/main.js');
const readyLine = /^Manyhands is ready at (\S+)$/m;

export interface ServerOptions {
  /** A new temporary one, removed by `remove`, when absent. */
  dataDirectory?: string;
  /** The Messages API; the built-in scripted model when absent. */
  modelUrl?: string;
  /** Settings over the defaults; undefined leaves one out. */
  env?: Record<string, string | undefined>;
  args?: string[];
}

export const testApiKey = 'mh-test-key-0123456789abcdef';

export class ServerProcess {
  readonly dataDirectory: string;
  readonly apiKey = testApiKey;
  readonly #options: ServerOptions;
  #child: ChildProcess | null = null;
  #port = 0;
  /** Everything the process printed, of all its lives. */
  output = '';
  /** How it ended, should it have done so unasked. */
  unexpectedEnd: Error | null = null;

  private constructor(dataDirectory: string, options: ServerOptions) {
    this.dataDirectory = dataDirectory;
    this.#options = options;
  }

  /** One that does not run yet. */
  static async prepare(options: ServerOptions = {}): Promise<ServerProcess> {
    const dataDirectory = options.dataDirectory ?? (await mkdtemp(path.join(tmpdir(), 'manyhands-test-')));
    return new ServerProcess(dataDirectory, options);
  }

  /** Resolves when the server is ready; rejects with its output when it ends before. */
  static async start(options: ServerOptions = {}): Promise<ServerProcess> {
    const server = await ServerProcess.prepare(options);
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('the server does not run');
    return pid;
  }

  /** The official client, with nothing changed but the address. It does not retry, so that a test sees every answer. */
  client(options: { maxRetries?: number } = {}): Anthropic {
    return new Anthropic({ baseURL: this.url, apiKey: this.apiKey, maxRetries: options.maxRetries ?? 0 });
  }

  /** Starts it again on its data and port. */
  async start(): Promise<void> {
    const child = this.spawn();
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      let printed = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        const match = readyLine.exec(printed);
        if (!match?.[1]) return;
        this.#port = Number(new URL(match[1]).port);
        resolve();
      });
      child.once('exit', (code, signal) => {
        const end = new Error(`the server ended with ${code ?? signal}:\n${this.output.slice(-4_000)}`);
        if (this.#child === child) this.unexpectedEnd = end;
        reject(end);
      });
      child.once('error', reject);
    });
  }

  /** The process alone, for tests of starts that fail. */
  spawn(): ChildProcess {
    const { modelUrl, env, args } = this.#options;
    const child = spawn(process.execPath, ['--enable-source-maps', main, ...(args ?? [])], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        NODE_ENV: 'production',
        PORT: String(this.#port),
        MANYHANDS_DATA_DIR: this.dataDirectory,
        MANYHANDS_API_KEY: this.apiKey,
        ...(modelUrl && { ANTHROPIC_API_KEY: 'test-model-key', ANTHROPIC_BASE_URL: modelUrl }),
        ...env,
      },
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    return child;
  }

  /** SIGKILL, and wait until it is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGTERM, and wait for the drain; gives the exit code. */
  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
    return child.exitCode;
  }

  /** Takes away what can be folded again from the log. */
  async removeCopy(): Promise<void> {
    for (const suffix of ['', '-wal', '-shm']) {
      await rm(path.join(this.dataDirectory, `copy.db${suffix}`), { force: true });
    }
  }

  /** Kills it and removes its data, unless `MANYHANDS_KEEP_DATA` is set. Sandboxes that outlive it end by themselves. */
  async remove(): Promise<void> {
    await this.kill();
    if (process.env['MANYHANDS_KEEP_DATA'] !== undefined) return console.info(`kept: ${this.dataDirectory}`);
    await rm(this.dataDirectory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
