import Anthropic from '@anthropic-ai/sdk';
import { ModelError, type Model, type ModelProgress, type ModelRequest, type ModelResponse } from '@manyhands/ports';
import { Answer } from './answer.ts';
import { betaOf, messageParams } from './message-params.ts';
import { modelFailure, type Stage } from './model-failure.ts';
import { Transport } from './transport.ts';

export interface AnthropicModelOptions {
  apiKey: string;
  /** The Messages API's address without `/v1`; Anthropic's own, unless told. */
  baseUrl?: string;
  /** How long a connection may be silent; 60 s, unless told. */
  silenceMs?: number;
}

type StreamEvents = AsyncIterator<Anthropic.RawMessageStreamEvent>;

const anthropicUrl = 'https://api.anthropic.com';
const defaultSilenceMs = 60_000;
/** The SDK's own limit for the first byte of an answer, which must never be the one that strikes. */
const sdkTimeoutMs = 24 * 60 * 60 * 1000;
/** Shorter keys are placeholders, which may occur in any text. */
const shortestSecret = 8;

/** The Messages API, through the official SDK. */
export class AnthropicModel implements Model {
  readonly #apiKey: string;
  readonly #transport: Transport;
  readonly #client: Anthropic;

  constructor(options: AnthropicModelOptions) {
    this.#apiKey = options.apiKey;
    this.#transport = new Transport(options.silenceMs ?? defaultSilenceMs);
    // Every setting that the SDK would otherwise take from the environment is given; the header, which is the one it
    // would make itself, outdoes one of `ANTHROPIC_CUSTOM_HEADERS`.
    this.#client = new Anthropic({
      apiKey: options.apiKey,
      authToken: null,
      defaultHeaders: { authorization: `Bearer ${options.apiKey}` },
      webhookKey: null,
      baseURL: options.baseUrl ?? anthropicUrl,
      maxRetries: 0,
      timeout: sdkTimeoutMs,
      fetch: this.#transport.fetch,
      logLevel: 'off',
      openTelemetry: false,
    });
  }

  async respond(
    request: ModelRequest,
    onProgress: (progress: ModelProgress) => void,
    signal: AbortSignal,
  ): Promise<ModelResponse> {
    const answer = new Answer(onProgress);
    const events = await this.#guard('opening', signal, () => this.#open(request, signal));
    try {
      for (;;) {
        const next = await this.#guard('streaming', signal, () => events.next());
        if (next.done) throw new ModelError('cut_stream', 'The answer ended before it was whole.');
        if (answer.take(next.value)) break;
      }
      const response = answer.response();
      void readToEnd(events);
      return response;
    } catch (error) {
      void events.return?.();
      throw error;
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.#transport.close();
  }

  async #open(request: ModelRequest, signal: AbortSignal): Promise<StreamEvents> {
    // Null keeps out a beta of `ANTHROPIC_CUSTOM_HEADERS`.
    const headers = { 'anthropic-beta': betaOf(request) };
    const stream = await this.#client.messages.create(messageParams(request), { signal, headers });
    return stream[Symbol.asyncIterator]();
  }

  /** Translates failures. The SDK ends an aborted stream without an error, so the signal is asked first. */
  async #guard<T>(stage: Stage, signal: AbortSignal, step: () => Promise<T>): Promise<T> {
    try {
      const result = await step();
      if (!signal.aborted) return result;
    } catch (error) {
      if (!signal.aborted) throw modelFailure(error, stage, (text) => this.#redact(text));
    }
    throw new ModelError('aborted', 'The request was aborted.');
  }

  #redact(text: string): string {
    return this.#apiKey.length < shortestSecret ? text : text.replaceAll(this.#apiKey, '[redacted]');
  }
}

/**
 * Reads what follows the last event, so that the connection can be used again. Nobody waits for it, and silence or an
 * abort still ends it.
 */
async function readToEnd(events: StreamEvents): Promise<void> {
  try {
    while (!(await events.next()).done);
  } catch {
    // The answer is whole; how its connection ends concerns nobody.
  }
}
