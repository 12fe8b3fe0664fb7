/** Pages through each session named in the arguments, over and over; prints how many pages that were when it is ended. */
import { Agent } from 'undici';

const [url, apiKey, ...sessions] = process.argv.slice(2) as [string, string, ...string[]];
const dispatcher = new Agent({ connections: sessions.length });
const headers = { 'x-api-key': apiKey, 'anthropic-beta': 'managed-agents-2026-04-01' };
let pages = 0;

async function readForEver(sessionId: string, onFirst: () => void): Promise<void> {
  let page: string | null = null;
  for (;;) {
    const query: string = `limit=100${page === null ? '' : `&page=${encodeURIComponent(page)}`}`;
    const path = `/v1/sessions/${sessionId}/events?${query}`;
    const { statusCode, body } = await dispatcher.request({ origin: url, path, method: 'GET', headers });
    if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}: ${await body.text()}`);
    // Only the cursor at the end is looked at: the client's work is not what is measured.
    let end = Buffer.alloc(0);
    for await (const chunk of body as AsyncIterable<Buffer>) end = Buffer.concat([end, chunk]).subarray(-2_000);
    page = /"next_page":"([^"]+)"/.exec(end.toString())?.[1] ?? null;
    pages++;
    onFirst();
  }
}

process.once('SIGTERM', () => {
  process.stdout.write(`${pages}\n`, () => process.exit(0));
});
await Promise.all(
  sessions.map((id) => new Promise<void>((resolve, reject) => void readForEver(id, resolve).catch(reject))),
);
process.stdout.write('reading\n');
