/**
 * One `/bin/bash` that lives across calls: directory, variables, functions and background jobs stay.
 *
 * A command is handed to `eval`, so a syntax error is an exit status and not a shell that waits for the rest. Its output
 * goes to descriptor 3, the session's one pipe; the command itself sees it as 1 and 2 only, so that even `exec >file`
 * leaves the pipe alone. After it comes a mark with the exit status. This is own code because the toolset's session
 * cannot show output so far, loses what was written before an `exit`, and counts characters where bytes are meant.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { OutputTail } from './output-tail.ts';
import { killTree } from './process-tree.ts';

/** `exited`: the command ended the shell itself. `killed`: by the signal given to `run`. */
export type CommandEnd = { kind: 'done' | 'exited'; status: number } | { kind: 'killed' };

/** Left processes may hold the pipe open after the shell is gone; what is in it by then is read, no more. */
const drainMs = 100;

/** Under memory pressure the kernel should take a command, not the daemon. */
const prelude = 'echo 500 >/proc/self/oom_score_adj\n';

export class BashSession {
  readonly #process: ChildProcess;
  readonly #exit: Promise<number>;
  readonly #drained: Promise<unknown>;
  #output = new OutputTail(newNonce());
  #onMark: (status: number) => void = () => {};
  #ended = false;

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#process = spawn('/bin/bash', ['--noprofile', '--norc'], {
      cwd,
      env: { ...env, TERM: 'dumb' },
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
      detached: true,
    });
    this.#exit = new Promise((resolve) => {
      this.#process.once('error', () => resolve(127));
      this.#process.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 128)));
    });
    void this.#exit.then(() => (this.#ended = true));
    this.#drained = new Promise((resolve) => this.#pipe.once('close', resolve));
    this.#process.stdin?.on('error', () => {}); // The shell is gone: its exit tells.
    this.#pipe.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#process.stdin?.write(prelude);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Output of the command that runs or ran last. */
  outputText(): string {
    return this.#output.text();
  }

  /** Runs one command, and must not be called again before it has ended. */
  async run(command: string, signal: AbortSignal): Promise<CommandEnd> {
    const nonce = newNonce();
    this.#output = new OutputTail(nonce);
    const marked = new Promise<CommandEnd>((resolve) => {
      this.#onMark = (status) => resolve({ kind: 'done', status });
    });
    const exited = this.#exit.then(async (status): Promise<CommandEnd> => {
      await Promise.race([this.#drained, sleep(drainMs)]);
      return { kind: 'exited', status };
    });
    const killed = Promise.withResolvers<CommandEnd>();
    const kill = (): void => {
      this.end();
      killed.resolve({ kind: 'killed' });
    };
    if (signal.aborted) kill();
    else signal.addEventListener('abort', kill, { once: true });
    this.#process.stdin?.write(
      `builtin eval ${quoted(command)} </dev/null >&3 2>&1 3>&-\nbuiltin printf '%s%d\\n' ${nonce} $? >&3\n`,
    );
    try {
      return await Promise.race([marked, killed.promise, exited]);
    } finally {
      // The signal outlives the command, the shell goes on to the next one: a limit that is reached later is not its.
      signal.removeEventListener('abort', kill);
    }
  }

  /** Kills the shell and everything it started. */
  end(): void {
    this.#ended = true;
    if (this.#process.pid !== undefined) killTree(this.#process.pid);
    this.#pipe.destroy();
  }

  get #pipe(): Readable {
    return this.#process.stdio[3] as Readable;
  }

  #read(chunk: Buffer): void {
    const status = this.#output.push(chunk);
    if (status !== null) this.#onMark(status);
  }
}

function newNonce(): string {
  return `mark-${randomUUID()}:`;
}

function quoted(command: string): string {
  return `'${command.replaceAll("'", String.raw`'\''`)}'`;
}
