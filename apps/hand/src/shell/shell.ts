import type { ToolAnswer } from '@manyhands/ports';
import { textAnswer } from '../tools/answer.ts';
import { BashSession, type CommandEnd } from './bash-session.ts';

export interface BashInput {
  command?: string;
  restart?: boolean;
  timeout_ms?: number;
}

const defaultTimeoutMs = 120_000;
/** What a timer can hold; a longer wish means "as long as it takes". */
const maxTimeoutMs = 2 ** 31 - 1;

/** The `bash` tool: one session at a time, a new one after a kill. Callers take turns; the shell does not queue. */
export class Shell {
  readonly #cwd: string;
  readonly #env: NodeJS.ProcessEnv;
  #session: BashSession | null = null;

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#cwd = cwd;
    this.#env = env;
  }

  outputText(): string {
    return this.#session?.outputText() ?? '';
  }

  async run(input: BashInput, cancelled: AbortSignal): Promise<ToolAnswer> {
    if (cancelled.aborted) return textAnswer(`bash: ${String(cancelled.reason)}`, true);
    if (input.restart) this.end();
    if (!input.command) {
      return input.restart ? textAnswer('bash session restarted') : textAnswer('bash: command is required', true);
    }
    if (input.command.includes('\0')) return textAnswer('bash: a command cannot hold a NUL character', true);
    const timeoutMs = Math.min(Math.max(input.timeout_ms ?? defaultTimeoutMs, 1), maxTimeoutMs);
    const timeout = AbortSignal.timeout(timeoutMs);
    const session = this.#open();
    const end = await session.run(input.command, AbortSignal.any([cancelled, timeout]));
    const because = cancelled.aborted ? String(cancelled.reason) : `timed out after ${timeoutMs}ms`;
    return answer(end, session.outputText(), because);
  }

  end(): void {
    this.#session?.end();
    this.#session = null;
  }

  #open(): BashSession {
    if (!this.#session || this.#session.ended) this.#session = new BashSession(this.#cwd, this.#env);
    return this.#session;
  }
}

function answer(end: CommandEnd, output: string, because: string): ToolAnswer {
  if (end.kind === 'killed') {
    return textAnswer([...(output ? [output] : []), `bash: ${because}; the shell was restarted`].join('\n'), true);
  }
  const text = output || '(no output)';
  return end.status === 0 ? textAnswer(text) : textAnswer(`${text}\nexit status ${end.status}`, true);
}
