import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import { ModelError, type ModelErrorCode } from '@manyhands/ports';
import { retryAfterMs } from './retry-after.ts';
import { SilenceError } from './transport.ts';

/** How far a request had come. A connection that is lost within an answer has cut the stream. */
export type Stage = 'opening' | 'streaming';

/** Longest piece of a provider's message that we repeat. */
const maxMessageChars = 500;

const codesByType: Readonly<Record<string, ModelErrorCode>> = {
  overloaded_error: 'overloaded',
  rate_limit_error: 'rate_limited',
  api_error: 'server_error',
  timeout_error: 'server_error',
  authentication_error: 'authentication',
  permission_error: 'authentication',
  billing_error: 'billing',
  request_too_large: 'too_long',
};

const codesByStatus: Readonly<Record<number, ModelErrorCode>> = {
  401: 'authentication',
  402: 'billing',
  403: 'authentication',
  408: 'connection',
  413: 'too_long',
  429: 'rate_limited',
  529: 'overloaded',
};

/** The API tells a prompt that does not fit, and an empty account, by their words alone. */
const codesByMessage: readonly { said: RegExp; code: ModelErrorCode }[] = [
  {
    said: /prompt is too long|exceeds? (?:the )?(?:model's )?(?:maximum )?context|too many total text bytes/i,
    code: 'too_long',
  },
  { said: /credit balance is too low/i, code: 'billing' },
];

/** Translates whatever the SDK or the transport threw. `redact` takes our secrets out of a text. */
export function modelFailure(error: unknown, stage: Stage, redact: (text: string) => string): ModelError {
  const cause = error instanceof APIConnectionError ? error.cause : error;
  if (cause instanceof SilenceError) {
    return new ModelError('silent', `The model provider fell silent: ${cause.message}.`);
  }
  const isAnswer = error instanceof APIError && !(error instanceof APIConnectionError);
  const shorten = (text: string) => redact(text).slice(0, maxMessageChars);
  return isAnswer ? refusal(error as APIError, shorten) : connectionFailure(cause, stage, shorten);
}

function refusal(error: APIError, shorten: (text: string) => string): ModelError {
  const said = error.apiMessage ?? 'no explanation';
  const kind = error.type ?? (error.status === undefined ? 'error' : `status ${error.status}`);
  const request = error.requestID ? ` (${error.requestID})` : '';
  const message = shorten(`The model provider answered ${kind}: ${said}`) + request;
  return new ModelError(codeOf(error, said), message, { retryAfterMs: retryAfterMs(error.headers) });
}

function codeOf(error: APIError, said: string): ModelErrorCode {
  if (error.errorCode?.endsWith('spend_limit_reached')) return 'billing';
  const byWords = codesByMessage.find((entry) => entry.said.test(said));
  if (byWords && (error.status === undefined || error.status < 429)) return byWords.code;
  const byType = codesByType[error.type ?? ''];
  if (byType) return byType;
  if (error.status === undefined) return 'cut_stream';
  return codesByStatus[error.status] ?? (error.status >= 500 ? 'server_error' : 'invalid_request');
}

/** The cause is kept only where it is Node's own error: others may quote what they choked on, a key for example. */
function connectionFailure(cause: unknown, stage: Stage, shorten: (text: string) => string): ModelError {
  const code = errorCodeOf(cause);
  const reason = code ?? shorten(cause instanceof Error ? cause.message : 'no reason known');
  const options = code === null ? {} : { cause };
  if (stage === 'streaming') return new ModelError('cut_stream', `The model's answer was cut: ${reason}.`, options);
  return new ModelError('connection', `The model provider was not reached: ${reason}.`, options);
}

function errorCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
