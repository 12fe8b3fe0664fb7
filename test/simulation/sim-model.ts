/**
 * A model in memory that honours the contract of `Model`. What it answers is asked of a plan, a pure function of the
 * prompt; how long it takes and whether it fails comes from the seed.
 */
import type { Model, ModelErrorCode, ModelProgress, ModelRequest, ModelResponse } from '@manyhands/ports';
import { ModelError } from '@manyhands/ports';
import type { TokenUsage } from '@manyhands/protocol';

export type ModelAnswer = Pick<ModelResponse, 'blocks' | 'stopReason'> & Partial<Pick<ModelResponse, 'stopDetails'>>;

export interface ModelFault {
  code: ModelErrorCode;
  retryAfterMs?: number;
}

/** Where one request's answer stops coming. */
export type Hang = 'before' | 'within';

export interface SimModelOptions {
  answerTo: (request: ModelRequest) => ModelAnswer;
  /** Waits between two pieces of an answer. */
  pause: (signal: AbortSignal) => Promise<void>;
  faultOf?: (request: ModelRequest) => ModelFault | null;
  hangOf?: (request: ModelRequest) => Hang | null;
}

const pieces = 3;

export class SimModel implements Model {
  /** Requests that were begun. */
  requests = 0;
  readonly #options: SimModelOptions;

  constructor(options: SimModelOptions) {
    this.#options = options;
  }

  async respond(
    request: ModelRequest,
    onProgress: (progress: ModelProgress) => void,
    signal: AbortSignal,
  ): Promise<ModelResponse> {
    this.requests++;
    const fault = this.#options.faultOf?.(request) ?? null;
    const hang = this.#options.hangOf?.(request) ?? null;
    const tell = (progress: ModelProgress): void => {
      throwIfAborted(signal);
      onProgress(progress);
    };
    await this.#wait(signal);
    if (hang === 'before') await untilAborted(signal);
    if (fault && fault.code !== 'cut_stream') throw errorOf(fault);
    const answer = this.#options.answerTo(request);
    const usage = usageOf(request, answer);
    tell({ type: 'usage', usage: { ...usage, outputTokens: 1 } });
    for (const [index, block] of answer.blocks.entries()) {
      tell({ type: 'block_start', index, blockType: block.type });
      if (block.type === 'text') await this.#stream(String(block['text']), index, tell, signal, hang, fault);
    }
    if (fault) throw errorOf(fault);
    tell({ type: 'usage', usage });
    return { stopDetails: null, ...answer, usage };
  }

  async #stream(
    text: string,
    index: number,
    tell: (progress: ModelProgress) => void,
    signal: AbortSignal,
    hang: Hang | null,
    fault: ModelFault | null,
  ): Promise<void> {
    const size = Math.max(1, Math.ceil(text.length / pieces));
    for (let at = 0; at < text.length; at += size) {
      tell({ type: 'text', index, text: text.slice(at, at + size) });
      if (hang) await untilAborted(signal);
      await this.#wait(signal);
      if (fault) throw errorOf(fault);
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    await this.#options.pause(signal);
    throwIfAborted(signal);
  }
}

function errorOf({ code, retryAfterMs }: ModelFault): ModelError {
  return new ModelError(code, `planned: ${code}`, { retryAfterMs: retryAfterMs ?? null });
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new ModelError('aborted', 'the request was aborted');
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(new ModelError('aborted', 'the request was aborted'));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

function usageOf(request: ModelRequest, answer: ModelAnswer): TokenUsage {
  return {
    inputTokens: Math.ceil(JSON.stringify(request.messages).length / 4) + 1,
    outputTokens: Math.ceil(JSON.stringify(answer.blocks).length / 4) + 1,
    cacheReadInputTokens: 0,
    cacheCreation5mInputTokens: 0,
    cacheCreation1hInputTokens: 0,
  };
}
