/** As much of a client as the demonstration needs: plain HTTP, so that it shows what any language would send. */

export interface ApiAddress {
  baseUrl: string;
  apiKey: string;
}

export type WireObject = Record<string, unknown> & { id: string; type: string };

export async function post(api: ApiAddress, path: string, body: unknown): Promise<WireObject> {
  const response = await fetch(new URL(path, api.baseUrl), {
    method: 'POST',
    headers: { ...headersOf(api), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as WireObject;
}

/** The events of a session from now on, as the server sends them. */
export async function* streamEvents(
  api: ApiAddress,
  sessionId: string,
  signal: AbortSignal,
): AsyncGenerator<WireObject> {
  const path = `/v1/sessions/${sessionId}/events/stream`;
  const response = await fetch(new URL(path, api.baseUrl), { headers: headersOf(api), signal });
  if (!response.ok || !response.body) throw new Error(`GET ${path} answered ${response.status}`);
  let buffered = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    buffered += text;
    const messages = buffered.split('\n\n');
    buffered = messages.pop() ?? '';
    for (const message of messages) {
      const data = message.split('\n').find((line) => line.startsWith('data: '));
      if (data && !message.includes('event: ping')) yield JSON.parse(data.slice('data: '.length)) as WireObject;
    }
  }
}

function headersOf(api: ApiAddress): Record<string, string> {
  return {
    authorization: `Bearer ${api.apiKey}`,
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'managed-agents-2026-04-01',
  };
}
