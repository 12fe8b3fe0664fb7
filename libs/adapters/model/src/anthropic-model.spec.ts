import {
  script,
  startScriptedModel,
  type ScriptedModel,
  type ScriptFault,
  type ScriptTurnInput,
} from '@manyhands/adapter-scripted-model';
import type { ModelErrorCode, ModelProgress, ModelRequest, PromptMessage } from '@manyhands/ports';
import { modelContract, type PlannedAnswer } from '@manyhands/ports/testing';
import type { ModelBlock } from '@manyhands/protocol';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AnthropicModel } from './anthropic-model.ts';

const apiKey = 'sk-ant-test-0123456789';

const faultsOf: Partial<Record<ModelErrorCode, ScriptFault>> = {
  overloaded: { kind: 'status', status: 529 },
  rate_limited: { kind: 'status', status: 429 },
  server_error: { kind: 'status', status: 500 },
  connection: { kind: 'cut', afterEvents: 0 },
  cut_stream: { kind: 'cut', afterEvents: 4 },
  silent: { kind: 'silence', afterEvents: 0 },
  too_long: { kind: 'status', status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
  invalid_request: { kind: 'status', status: 400 },
  authentication: { kind: 'status', status: 401 },
  billing: { kind: 'status', status: 402 },
};

modelContract(async () => {
  const server = await startScriptedModel();
  const model = new AnthropicModel({ apiKey, baseUrl: server.baseUrl, silenceMs: 500 });
  return {
    model,
    plan: (answer) => user(script([turnOf(answer)])),
    failures: Object.keys(faultsOf) as ModelErrorCode[],
    close: async () => {
      model.close();
      await server.close();
    },
  };
});

describe('the model over HTTP', () => {
  let server: ScriptedModel;
  let model: AnthropicModel;
  beforeEach(async () => {
    server = await startScriptedModel();
    model = new AnthropicModel({ apiKey, baseUrl: server.baseUrl, silenceMs: 200 });
  });
  afterEach(async () => {
    model.close();
    await server.close();
  });

  const play = (turn: ScriptTurnInput, onProgress: (progress: ModelProgress) => void = () => {}) =>
    model.respond(request(user(script([turn]))), onProgress, new AbortController().signal);

  it.each<[string, ScriptFault, ModelErrorCode]>([
    ['an overload told within the stream', { kind: 'error', afterEvents: 3 }, 'overloaded'],
    ['an error told within the stream', { kind: 'error', afterEvents: 3, errorType: 'api_error' }, 'server_error'],
    ['a reset within the stream', { kind: 'cut', afterEvents: 5 }, 'cut_stream'],
    ['a polite end before the answer is whole', { kind: 'end', afterEvents: 5 }, 'cut_stream'],
    ['a polite end without any event', { kind: 'end', afterEvents: 0 }, 'cut_stream'],
    ['silence within the stream', { kind: 'silence', afterEvents: 4 }, 'silent'],
    ['silence after the status line', { kind: 'silence', afterEvents: 1 }, 'silent'],
    ['503', { kind: 'status', status: 503 }, 'server_error'],
    ['403', { kind: 'status', status: 403 }, 'authentication'],
    ['404', { kind: 'status', status: 404 }, 'invalid_request'],
    ['413', { kind: 'status', status: 413 }, 'too_long'],
    ['an empty account', { kind: 'status', status: 400, message: 'Your credit balance is too low.' }, 'billing'],
  ])('calls %s by its name', async (_, fault, code) => {
    await expect(play({ blocks: [{ text: 'Never whole.' }], faults: [fault] })).rejects.toMatchObject({ code });
  });

  it('waits as long as bytes keep coming', async () => {
    const slow = await play({ blocks: [{ text: 'one two three four five six' }], tokenDelayMs: 60, chunkChars: 4 });
    expect(slow.blocks).toEqual([{ type: 'text', text: 'one two three four five six' }]);
  });

  it.each([0, 4])('closes the connection when it gives up on silence after %i events', async (afterEvents) => {
    await expect(play({ blocks: [{ text: 'x' }], faults: [{ kind: 'silence', afterEvents }] })).rejects.toThrow(
      'silent',
    );
    await vi.waitFor(() => expect(server.requests.requests()[0]?.abortedAt).not.toBeNull());
  });

  it.each([0, 4])('closes the connection at once when it is aborted after %i events', async (afterEvents) => {
    const patient = new AnthropicModel({ apiKey, baseUrl: server.baseUrl });
    const controller = new AbortController();
    const turn = { blocks: [{ text: 'a long answer' }], faults: [{ kind: 'silence' as const, afterEvents }] };
    const answer = patient.respond(request(user(script([turn]))), () => {}, controller.signal);
    await vi.waitFor(() => expect(server.requests.count).toBe(1));
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: 'aborted' });
    await vi.waitFor(() => expect(server.requests.requests()[0]?.abortedAt).not.toBeNull());
    patient.close();
  });

  it('leaves no listener on a signal that outlives many requests', async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    for (let i = 0; i < 5; i++) await model.respond(request(user('hello')), () => {}, signal);
    await vi.waitFor(() => expect(removed.mock.calls.length).toBe(added.mock.calls.length));
  });

  it('uses one connection for one request after the other, answered or refused', async () => {
    const ports = new Set<number | undefined>();
    let requests = 0;
    const answering = await serve((incoming, response) => {
      ports.add(incoming.socket.remotePort);
      if (++requests % 2 === 0) response.writeHead(529, { 'content-type': 'application/json' }).end('{}');
      else streamShortAnswer(response);
    });
    const other = new AnthropicModel({ apiKey, baseUrl: answering.url });
    for (let i = 0; i < 3; i++) {
      expect((await ask(other)).stopReason).toBe('end_turn');
      // The end of the stream follows its last event, which is where the answer is whole.
      await new Promise((resolve) => setTimeout(resolve, 20));
      await expect(ask(other)).rejects.toMatchObject({ code: 'overloaded' });
    }
    expect(ports.size).toBe(1);
    other.close();
    await answering.close();
  });

  it('keeps an input that is no JSON where the model can see it', async () => {
    const { blocks } = await play({ blocks: [{ tool: 'bash', rawInput: '{"command":"ec' }], stopReason: 'max_tokens' });
    expect(blocks[0]?.['input']).toEqual({ INVALID_JSON: '{"command":"ec' });
  });

  it('takes an answer that ran out of context as cut off', async () => {
    const { stopReason } = await play({ blocks: [{ text: 'x' }], stopReason: 'model_context_window_exceeded' });
    expect(stopReason).toBe('max_tokens');
  });

  it('rejects with what a listener throws', async () => {
    const throwing = () => {
      throw new RangeError('not mine');
    };
    await expect(play([{ text: 'x' }], throwing)).rejects.toThrow(new RangeError('not mine'));
  });

  it('sends its own key, whatever the environment holds, and never tells it', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'sk-from-environment');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'token-from-environment');
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:1');
    vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'Authorization: Bearer other\nx-secret: leak');
    let sent: unknown;
    const echoing = await serve((incoming, response) => {
      sent = incoming.headers;
      const message = `no such key: ${incoming.headers.authorization ?? ''}`;
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ type: 'error', error: { type: 'authentication_error', message } }));
    });
    const other = new AnthropicModel({ apiKey, baseUrl: echoing.url });
    vi.unstubAllEnvs();
    const failure = await ask(other).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'authentication', message: expect.stringContaining('[redacted]') as string });
    expect(sent).toMatchObject({ authorization: `Bearer ${apiKey}` });
    expect(Object.keys(sent as object)).not.toContain('x-secret');
    expect(JSON.stringify([failure, String((failure as Error).stack)])).not.toContain(apiKey);
    other.close();
    await echoing.close();
  });

  it('follows no redirect', async () => {
    const redirecting = await serve((_, response) => response.writeHead(307, { location: server.baseUrl }).end());
    const other = new AnthropicModel({ apiKey, baseUrl: redirecting.url });
    await expect(ask(other)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(server.requests.count).toBe(0);
    other.close();
    await redirecting.close();
  });

  it('tells a server that is away', async () => {
    const away = new AnthropicModel({ apiKey, baseUrl: 'http://127.0.0.1:1' });
    await expect(ask(away)).rejects.toMatchObject({
      code: 'connection',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
    away.close();
  });
});

function turnOf(answer: PlannedAnswer): ScriptTurnInput {
  const fault = answer.failure && faultsOf[answer.failure.code];
  const retryAfterMs = answer.failure?.retryAfterMs;
  const hang: ScriptFault | null = answer.hangs
    ? { kind: 'silence', afterEvents: answer.hangs === 'before' ? 0 : 4 }
    : null;
  return {
    blocks: answer.blocks.map(scriptBlock),
    stopReason: answer.stopReason,
    ...(answer.stopDetails && { refusal: answer.stopDetails }),
    ...(fault && { faults: [retryAfterMs === undefined ? fault : { ...fault, retryAfterMs }] as ScriptFault[] }),
    ...(hang && { faults: [hang] }),
  };
}

function scriptBlock(block: ModelBlock) {
  if (block.type === 'text') return { text: block['text'] as string };
  if (block.type === 'thinking')
    return { thinking: block['thinking'] as string, signature: block['signature'] as string };
  if (block.type === 'redacted_thinking') return { redacted: block['data'] as string };
  return { tool: block['name'] as string, id: block['id'] as string, input: block['input'] as Record<string, unknown> };
}

function user(text: string): PromptMessage[] {
  return [{ role: 'user', content: [{ type: 'text', text }] }];
}

function request(messages: PromptMessage[]): ModelRequest {
  return {
    model: 'scripted-1',
    effort: 'high',
    system: null,
    tools: [],
    messages,
    maxOutputTokens: 1024,
    thinking: false,
    promptCaching: false,
  };
}

function ask(model: AnthropicModel) {
  return model.respond(request(user('hello')), () => {}, new AbortController().signal);
}

/** Ends some time after its last event. */
function streamShortAnswer(response: ServerResponse): void {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const events = [
    { type: 'message_start', message: { usage } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  setTimeout(() => response.end(), 5);
}

async function serve(listener: RequestListener): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((incoming, response) => {
    incoming.resume();
    listener(incoming, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close };
}
