import type { ModelBlock, ModelStopReason, TokenUsage } from '@manyhands/protocol';

export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** One message of a prompt, in the Messages API's own shape. */
export interface PromptMessage {
  role: 'user' | 'assistant' | 'system';
  content: ModelBlock[];
}

export interface ModelTool {
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
}

export interface ModelRequest {
  model: string;
  effort: Effort;
  system: string | null;
  tools: readonly ModelTool[];
  messages: readonly PromptMessage[];
  maxOutputTokens: number;
  /** Adaptive thinking on, where the profile has it. */
  thinking: boolean;
  /** Mark cache breakpoints (5 minutes). */
  promptCaching: boolean;
}

export interface ModelResponse {
  blocks: ModelBlock[];
  stopReason: ModelStopReason;
  stopDetails: { category: string | null; explanation: string | null } | null;
  usage: TokenUsage;
}

/** What a stream tells while it runs; `usage` events give the best figures so far, for a stream that is cut. */
export type ModelProgress =
  | { type: 'usage'; usage: TokenUsage }
  | { type: 'block_start'; index: number; blockType: string }
  | { type: 'text'; index: number; text: string };

/**
 * A language model behind the Messages API.
 *
 * - `respond` calls `onProgress` in order and synchronously while the answer streams, and resolves with the whole.
 * - It rejects with `ModelError`; aborting the signal closes the connection at once and rejects with `'aborted'`.
 * - It retries nothing by itself: retries are the harness's, written in the log.
 * - 60 s without a byte is `'silent'`.
 */
export interface Model {
  respond(
    request: ModelRequest,
    onProgress: (progress: ModelProgress) => void,
    signal: AbortSignal,
  ): Promise<ModelResponse>;
}

export type ModelErrorCode =
  | 'aborted'
  | 'overloaded'
  | 'rate_limited'
  | 'server_error'
  | 'connection'
  | 'cut_stream'
  | 'silent'
  | 'too_long'
  | 'invalid_request'
  | 'authentication'
  | 'billing';

export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly retriable: boolean;
  /** What the provider asked to wait, in milliseconds. */
  readonly retryAfterMs: number | null;
  constructor(code: ModelErrorCode, message: string, options?: { cause?: unknown; retryAfterMs?: number | null }) {
    super(message, options);
    this.name = 'ModelError';
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs ?? null;
    this.retriable = ['overloaded', 'rate_limited', 'server_error', 'connection', 'cut_stream', 'silent'].includes(
      code,
    );
  }
}

/** Prices in millionths of a cent per token (1 USD per million tokens = 100 microcents per token). */
export interface ModelPrice {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
}

/** What we know of a model; data, never code. */
export interface ModelProfile {
  /** Exact id, or a prefix that ends in `*`. */
  match: string;
  contextWindowTokens: number;
  maxOutputTokens: number;
  defaultEffort: Effort;
  thinking: boolean;
  promptCaching: boolean;
  midConversationSystem: boolean;
  /** null: the model cannot be used under a budget. */
  price: ModelPrice | null;
}
