/** Appends while ten clients, in a process of their own, page through sessions with large results as fast as they can. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { preciseNow } from '@manyhands/adapter-scripted-model';
import type { SessionId } from '@manyhands/protocol';
import { testApiKey } from '../support/server-process.ts';
import { BenchPlatform } from './bench-platform.ts';
import { DataLog } from './data-log.ts';
import { figure, percentile, round } from './figures.ts';
import { writeLargeResults } from './history.ts';
import type { Measurement } from './measurement.ts';

const [clients, results, resultChars] = [10, 60, 100_000];
/** A server that is held up gives fewer samples, not a longer bench. */
const longestMs = 15_000;
/** How often the event loop's delay is sampled by the server, which is part of each sample. */
const loopSampleMs = 100;

export const paging: Measurement = {
  name: 'paging',
  about: `time of an append's POST, alone and while ${clients} clients page through ${results} results of ${resultChars} characters`,
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    try {
      const large = await fill(platform);
      await platform.warmUp(100);
      const sessionId = await platform.newSession();
      const samples = isQuick ? 300 : 1_000;
      await appendTimes(platform, sessionId, samples);
      await platform.metric('nodejs_eventloop_lag_max_seconds'); // Each question begins a new maximum.
      const quiet = await appendTimes(platform, sessionId, samples);
      const quietLoopMs = await longestBlockMs(platform);
      const readers = await startReaders(platform.server.url, large);
      await platform.metric('nodejs_eventloop_lag_max_seconds');
      const busy = await appendTimes(platform, sessionId, samples);
      const busyLoopMs = await longestBlockMs(platform);
      const pages = await stopReaders(readers);
      return figuresOf(quiet, busy, { quietLoopMs, busyLoopMs, pages });
    } finally {
      await platform.close();
    }
  },
};

async function fill(platform: BenchPlatform): Promise<SessionId[]> {
  const first = (await platform.newSession()) as SessionId;
  await platform.server.stop();
  const log = await DataLog.open(platform.server.dataDirectory);
  const ids = await log.newSessions(await log.templateOf(first), clients);
  for (const id of ids) await writeLargeResults(log, id, results, resultChars);
  await log.close();
  await platform.server.start();
  return ids;
}

async function appendTimes(platform: BenchPlatform, sessionId: string, count: number): Promise<number[]> {
  const times: number[] = [];
  const giveUpAt = performance.now() + longestMs;
  while (times.length < count && performance.now() < giveUpAt) {
    const sentAt = await platform.sendEvent(sessionId, { type: 'user.interrupt' });
    times.push(preciseNow() - sentAt);
  }
  return times;
}

async function longestBlockMs(platform: BenchPlatform): Promise<number> {
  const seconds = await platform.metric('nodejs_eventloop_lag_max_seconds');
  return Math.max(0, seconds * 1_000 - loopSampleMs);
}

async function startReaders(url: string, sessions: readonly string[]): Promise<ChildProcess> {
  const file = path.join(import.meta.dirname, 'paging-readers.ts');
  const child = spawn(process.execPath, [file, url, testApiKey, ...sessions], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(createInterface(child.stdout as NodeJS.ReadableStream), 'line'); // All of them read.
  return child;
}

/** Gives the pages that were read. */
async function stopReaders(child: ChildProcess): Promise<number> {
  const line = once(createInterface(child.stdout as NodeJS.ReadableStream), 'line');
  child.kill('SIGTERM');
  const [pages] = (await line) as [string];
  return Number(pages);
}

function figuresOf(
  quiet: readonly number[],
  busy: readonly number[],
  { quietLoopMs, busyLoopMs, pages }: { quietLoopMs: number; busyLoopMs: number; pages: number },
) {
  const [quietP99, busyP99] = [percentile(quiet, 0.99), percentile(busy, 0.99)];
  const ratio = busyP99 / quietP99;
  const shown = `p99 ${round(quietP99)} → ${round(busyP99)} ms, ${round(ratio)} times; p50 ${round(percentile(quiet, 0.5))} → ${round(percentile(busy, 0.5))} ms; ${pages} pages read`;
  const loop = `${round(quietLoopMs)} ms quiet, ${round(busyLoopMs)} ms busy`;
  return [
    figure('append beside ten paging clients', shown, { quietP99, busyP99, ratio, pages }, [
      { of: 'ratio', atMost: 3 },
    ]),
    figure(
      'longest block of the event loop',
      loop,
      { quietLoopMs, busyLoopMs },
      [{ of: 'busyLoopMs', atMost: 50 }],
      ' ms',
    ),
  ];
}
