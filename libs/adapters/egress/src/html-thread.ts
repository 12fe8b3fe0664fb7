/**
 * Pages are converted in a thread of their own: megabytes of hostile markup must neither stop the event loop nor exhaust
 * the memory of the process that holds everybody's sessions.
 */
import { Worker } from 'node:worker_threads';
import type { PageText } from './html-text.ts';
import { Turns } from './turns.ts';

/** More pages at the same time wait: each thread takes a core and its own heap. */
const MAX_THREADS = 2;
/** Honest pages take less than a second; others may not keep the rest waiting. */
const TIME_LIMIT_MS = 10_000;

const workerUrl = new URL(import.meta.url.endsWith('.ts') ? './html-worker.ts' : './html-worker.js', import.meta.url);

const turns = new Turns(MAX_THREADS);

/** Rejects when the page is too much for the thread, or with the signal's reason. */
export function pageTextInThread(html: string, url: string, signal: AbortSignal): Promise<PageText> {
  return turns.take(signal, () =>
    convertInThread(html, url, AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT_MS)])),
  );
}

async function convertInThread(html: string, url: string, signal: AbortSignal): Promise<PageText> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<PageText>();
  const worker = new Worker(workerUrl, {
    workerData: { html, url },
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 384, stackSizeMb: 4 },
  });
  const giveUp = () => reject(signal.reason as Error);
  signal.addEventListener('abort', giveUp, { once: true });
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('The thread ended without a result.')));
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', giveUp);
    await worker.terminate();
  }
}
