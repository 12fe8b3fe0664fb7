/**
 * `read`, `write`, `edit`, `glob` and `grep` of the official toolset, which confines them to the workspace and the roots.
 * Added here: images, and an end for calls that do not look at their signal.
 */
import { stat } from 'node:fs/promises';
import type { HandConfig } from '@manyhands/core';
import type { ToolAnswer } from '@manyhands/ports';
import { textAnswer } from './answer.ts';
import { readImage } from './read-image.ts';
import type { FileToolName } from './tool-input.ts';

type Toolset = typeof import('@anthropic-ai/sdk/tools/agent-toolset/node');
type Tool = ReturnType<Toolset['betaReadTool']>;

export class FileTools {
  readonly #context: { workdir: string; allowedRoots: string[]; readOnlyRoots: string[] };
  #loaded: Promise<{ toolset: Toolset; tools: Record<FileToolName, Tool> }> | null = null;

  constructor(config: HandConfig) {
    const { workspace, roots, readOnlyRoots } = config;
    this.#context = { workdir: workspace, allowedRoots: roots, readOnlyRoots };
  }

  /** Loading the toolset takes longer than starting the daemon, so it happens after the daemon listens. */
  load(): Promise<{ toolset: Toolset; tools: Record<FileToolName, Tool> }> {
    this.#loaded ??= import('@anthropic-ai/sdk/tools/agent-toolset/node').then((toolset) => ({
      toolset,
      tools: {
        read: toolset.betaReadTool(this.#context),
        write: toolset.betaWriteTool(this.#context),
        edit: toolset.betaEditTool(this.#context),
        glob: toolset.betaGlobTool(this.#context),
        grep: toolset.betaGrepTool(this.#context),
      },
    }));
    return this.#loaded;
  }

  async run(name: FileToolName, input: Record<string, unknown>, signal: AbortSignal): Promise<ToolAnswer> {
    try {
      return await Promise.race([this.#run(name, input, signal), aborted(name, signal)]);
    } catch (error) {
      if (signal.aborted) return textAnswer(`${name}: ${String(signal.reason)}`, true);
      return textAnswer(error instanceof Error ? error.message : String(error), true);
    }
  }

  async #run(name: FileToolName, input: Record<string, unknown>, signal: AbortSignal): Promise<ToolAnswer> {
    const { toolset, tools } = await this.load();
    if (name === 'read' && !input['view_range']) {
      const image = await this.#image(toolset, input['file_path'] as string);
      if (image) return image;
    }
    const content = await tools[name].run(input, { signal } as Parameters<Tool['run']>[1]);
    if (typeof content !== 'string') throw new TypeError(`${name} answered with blocks`);
    return textAnswer(content || '(no output)');
  }

  async #image(toolset: Toolset, name: string): Promise<ToolAnswer | null> {
    const path = await toolset.resolvePath(this.#context, name);
    const isFile = await stat(path).then(
      (found) => found.isFile(),
      () => false, // The tool's own message says what is wrong with it.
    );
    return isFile ? readImage(path, name) : null;
  }
}

async function aborted(name: FileToolName, signal: AbortSignal): Promise<ToolAnswer> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  const doubt = name === 'write' || name === 'edit' ? '; the file may have been changed' : '';
  return textAnswer(`${name}: ${String(signal.reason)}${doubt}`, true);
}
