import type Anthropic from '@anthropic-ai/sdk';
import { ModelError, type ModelProgress, type ModelResponse } from '@manyhands/ports';
import type { ModelBlock, ModelStopReason, TokenUsage } from '@manyhands/protocol';
import { noUsage, usageAtEnd, usageAtStart } from './usage.ts';

type StreamEvent = Anthropic.RawMessageStreamEvent;

/**
 * The provider's stop reasons in ours. An answer that ran into the end of the context window is as cut off as one that
 * ran into the output limit.
 */
const stopReasons: Readonly<Record<string, ModelStopReason>> = {
  end_turn: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  stop_sequence: 'stop_sequence',
  pause_turn: 'pause_turn',
  refusal: 'refusal',
};

/** Collects a streamed answer, block by block as the provider sent it, and tells how it gets on. */
export class Answer {
  readonly #onProgress: (progress: ModelProgress) => void;
  readonly #blocks: ModelBlock[] = [];
  /** Pieces of the inputs of tool calls, by block, as JSON text. */
  readonly #inputs = new Map<number, string>();
  #usage: TokenUsage = noUsage;
  #stopReason: ModelStopReason | null = null;
  #stopDetails: ModelResponse['stopDetails'] = null;

  constructor(onProgress: (progress: ModelProgress) => void) {
    this.#onProgress = onProgress;
  }

  /** Takes the next event; true when it was the last. */
  take(event: StreamEvent): boolean {
    switch (event.type) {
      case 'message_start':
        this.#setUsage(usageAtStart(event.message.usage));
        return false;
      case 'content_block_start':
        this.#blocks[event.index] = { ...event.content_block };
        this.#onProgress({ type: 'block_start', index: event.index, blockType: event.content_block.type });
        return false;
      case 'content_block_delta':
        this.#takeDelta(event.index, event.delta);
        return false;
      case 'content_block_stop':
        this.#closeInput(event.index);
        return false;
      case 'message_delta':
        this.#takeStop(event.delta);
        this.#setUsage(usageAtEnd(this.#usage, event.usage));
        return false;
      case 'message_stop':
        return true;
      default:
        return false;
    }
  }

  response(): ModelResponse {
    if (this.#stopReason === null) throw new ModelError('cut_stream', 'The answer ended without a stop reason.');
    return {
      blocks: this.#blocks,
      stopReason: this.#stopReason,
      stopDetails: this.#stopDetails,
      usage: this.#usage,
    };
  }

  #takeDelta(index: number, delta: Anthropic.RawContentBlockDelta): void {
    const block = this.#blocks[index];
    if (!block) throw new ModelError('cut_stream', `A piece of block ${index} came before its start.`);
    switch (delta.type) {
      case 'text_delta':
        append(block, 'text', delta.text);
        this.#onProgress({ type: 'text', index, text: delta.text });
        return;
      case 'thinking_delta':
        return append(block, 'thinking', delta.thinking);
      case 'signature_delta':
        return append(block, 'signature', delta.signature);
      case 'input_json_delta':
        this.#inputs.set(index, (this.#inputs.get(index) ?? '') + delta.partial_json);
        return;
      case 'citations_delta':
        block['citations'] = [...((block['citations'] as unknown[] | null) ?? []), delta.citation];
        return;
    }
  }

  /** A call without pieces keeps the input of its start. */
  #closeInput(index: number): void {
    const json = this.#inputs.get(index);
    const block = this.#blocks[index];
    if (json && block) block['input'] = parseInput(json);
  }

  #takeStop(delta: Anthropic.RawMessageDeltaEvent.Delta): void {
    if (delta.stop_reason !== null) this.#stopReason = stopReasons[delta.stop_reason] ?? 'end_turn';
    const details = delta.stop_details;
    if (details) this.#stopDetails = { category: details.category ?? null, explanation: details.explanation ?? null };
  }

  #setUsage(usage: TokenUsage): void {
    this.#usage = usage;
    this.#onProgress({ type: 'usage', usage });
  }
}

function append(block: ModelBlock, field: string, piece: string): void {
  block[field] = ((block[field] as string | undefined) ?? '') + piece;
}

/**
 * An input that is not a JSON object (the output limit can cut one) is kept under a name that no tool takes, so that the
 * call fails for a reason the model can read, and the prompt stays one that the API accepts.
 */
function parseInput(json: string): Record<string, unknown> {
  try {
    const input: unknown = JSON.parse(json);
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Record<string, unknown>;
  } catch {
    // Falls through to the same answer as JSON that is no object.
  }
  return { INVALID_JSON: json };
}
