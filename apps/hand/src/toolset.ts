import type { HandConfig } from '@manyhands/core';
import type { ToolAnswer } from '@manyhands/ports';
import { Shell } from './shell/shell.ts';
import { textAnswer } from './tools/answer.ts';
import { FileTools } from './tools/file-tools.ts';
import { inputProblem, type HandToolName } from './tools/tool-input.ts';

/** The tools of one hand: the shell and the file tools behind one call. A failure is an answer. */
export class Toolset {
  readonly #shell: Shell;
  readonly #files: FileTools;

  constructor(config: HandConfig, env: NodeJS.ProcessEnv) {
    this.#shell = new Shell(config.workspace, env);
    this.#files = new FileTools(config);
  }

  async run(name: HandToolName, input: Record<string, unknown>, signal: AbortSignal): Promise<ToolAnswer> {
    const problem = inputProblem(name, input);
    if (problem) return textAnswer(problem, true);
    if (name === 'bash') return this.#shell.run(input, signal);
    return this.#files.run(name, input, signal);
  }

  /** What the running command has written so far. */
  outputText(): string {
    return this.#shell.outputText();
  }

  async warmUp(): Promise<void> {
    await this.#files.load();
  }

  end(): void {
    this.#shell.end();
  }
}
