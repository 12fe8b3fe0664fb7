import http from 'node:http';
import https from 'node:https';

/** No byte came for as long as a connection is allowed to be silent. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/** How long an unused connection is kept: short of what servers and load balancers in between allow. */
const idleConnectionMs = 30_000;

/** What a request carries; the SDK adds others, some of them from the environment, which is not ours to pass on. */
const sentHeaders = ['accept', 'anthropic-beta', 'anthropic-version', 'authorization', 'content-type', 'user-agent'];

/**
 * The `fetch` that the SDK calls, over Node's own HTTP client and with as much of a `Response` as the SDK reads. The
 * built-in one cannot watch its sockets for silence, and follows redirects, with the prompt, to wherever they lead.
 *
 * - Aborting the signal destroys the socket before the abort returns.
 * - A connection that is silent for `silenceMs`, while it is opened, before an answer or within one, is destroyed and
 *   fails with `SilenceError`.
 */
export class Transport {
  readonly #silenceMs: number;
  readonly #plain = new http.Agent({ keepAlive: true, scheduling: 'lifo', timeout: idleConnectionMs });
  readonly #secure = new https.Agent({ keepAlive: true, scheduling: 'lifo', timeout: idleConnectionMs });

  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  readonly fetch = (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = pickHeaders(new Headers(init.headers));
    const options = { method: init.method ?? 'GET', headers, timeout: this.#silenceMs };
    const request =
      url.protocol === 'https:'
        ? https.request(url, { ...options, agent: this.#secure })
        : http.request(url, { ...options, agent: this.#plain });
    return exchange(request, url, init, this.#silenceMs);
  };

  /** Closes the idle connections; those in use close when they are done. */
  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}

function pickHeaders(headers: Headers): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of sentHeaders) {
    const value = headers.get(name);
    if (value !== null) picked[name] = value;
  }
  return picked;
}

function exchange(request: http.ClientRequest, url: URL, init: RequestInit, silenceMs: number): Promise<Response> {
  // Node reports a destroyed answer as a mere reset, so the reason is kept here.
  const ending: { reason: Error | null } = { reason: null };
  const end = (reason: Error) => {
    ending.reason ??= reason;
    request.destroy(reason);
  };
  const abort = () => end(new DOMException('The request was aborted.', 'AbortError'));
  const signal = init.signal;
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  request.once('timeout', () => end(new SilenceError(`no byte for ${silenceMs} ms`)));
  request.once('close', () => signal?.removeEventListener('abort', abort));
  return new Promise((resolve, reject) => {
    request.once('response', (answer) => resolve(asResponse(answer, url, ending)));
    request.on('error', (error) => reject(ending.reason ?? error));
    request.end(init.body as string | undefined);
  });
}

/** The SDK reads bodies as async iterables of bytes, so the message itself is the body. */
function asResponse(answer: http.IncomingMessage, url: URL, ending: { reason: Error | null }): Response {
  const status = answer.statusCode ?? 0;
  const body = bytesOf(answer, ending);
  const response = {
    ok: status >= 200 && status < 300,
    status,
    url: url.href,
    headers: new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)])),
    body,
    text: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
  return response as unknown as Response;
}

async function* bytesOf(answer: http.IncomingMessage, ending: { reason: Error | null }): AsyncGenerator<Buffer> {
  try {
    yield* answer as AsyncIterable<Buffer>;
  } catch (error) {
    throw ending.reason ?? error;
  }
}
