/** One session with a tool call, from the outside: what a newcomer sees first. */
import type { ApiAddress, WireObject } from './api-client.ts';
import { post, streamEvents } from './api-client.ts';

const question = 'Run `uname -sr; echo hello > hello.txt; ls` in your sandbox and tell me what it printed.';
/** A demonstration that hangs says so, in milliseconds. */
const timeLimitMs = 60_000;

export async function playDemo(api: ApiAddress, model: string, print: (line: string) => void): Promise<void> {
  const suffix = Date.now().toString(36);
  const environment = await post(api, '/v1/environments', { name: `demo-${suffix}`, config: { type: 'cloud' } });
  const agent = await post(api, '/v1/agents', {
    name: 'Demo agent',
    model,
    system: 'You are a helpful assistant with a sandbox.',
    tools: [{ type: 'agent_toolset_20260401' }],
  });
  const session = await post(api, '/v1/sessions', {
    agent: agent.id,
    environment_id: environment.id,
    title: 'Demonstration',
  });
  print(`session ${session.id}`);
  const limit = AbortSignal.timeout(timeLimitMs);
  const sent = post(api, `/v1/sessions/${session.id}/events`, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: question }] }],
  });
  await sent;
  for await (const event of streamEvents(api, session.id, limit)) {
    const line = describe(event);
    if (line) print(line);
    if (event.type === 'session.status_idle') {
      const stop = (event.stop_reason as { type: string }).type;
      if (stop !== 'end_turn') throw new Error(`the session ended with ${stop}`);
      return;
    }
  }
  throw new Error('the stream ended before the session was idle');
}

function describe(event: WireObject): string | null {
  switch (event.type) {
    case 'user.message':
      return event.processed_at ? `  you      ${textOf(event)}` : null;
    case 'agent.message':
      return `  agent    ${textOf(event)}`;
    case 'agent.thinking':
      return '  agent    (thinks)';
    case 'agent.tool_use':
      return `  tool     ${String(event.name)} ${JSON.stringify(event.input)}`;
    case 'agent.tool_result':
      return `  result   ${textOf(event)}`;
    case 'session.error':
      return `  error    ${JSON.stringify(event.error)}`;
    case 'session.status_idle':
      return `  idle     ${String((event.stop_reason as { type: string }).type)}`;
    default:
      return null;
  }
}

function textOf(event: WireObject): string {
  const blocks = (event.content ?? []) as { type: string; text?: string }[];
  const text = blocks.map((block) => block.text ?? `[${block.type}]`).join(' ');
  return text.trim().replaceAll('\n', '\n           ');
}

/** The lines that do the same from the official SDK. */
export function sdkExample(api: ApiAddress, model: string): string {
  return `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${api.baseUrl}', apiKey: process.env.MANYHANDS_API_KEY });
const environment = await client.beta.environments.create({ name: 'my-environment-' + Date.now() });
const agent = await client.beta.agents.create({
  name: 'My agent', model: '${model}', tools: [{ type: 'agent_toolset_20260401' }],
});
const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
const stream = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: 'user.message', content: [{ type: 'text', text: '${question}' }] }],
});
for await (const event of stream) {
  console.log(event.type);
  if (event.type === 'session.status_idle') break;
}`;
}
