/** From the start of the process to ready with 10,000 sessions; and the same when the copy is missing and is rebuilt. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { SessionId } from '@manyhands/protocol';
import { BenchPlatform } from './bench-platform.ts';
import { DataLog } from './data-log.ts';
import { figure, latency, round, type Figure } from './figures.ts';
import { writeLongSession } from './history.ts';
import type { Measurement } from './measurement.ts';

const sessions = 10_000;
/** Besides, sessions with a history, in commits of the size that a turn's have. */
const histories = 40;
const recordsOfHistory = 5_000;

export const restart: Measurement = {
  name: 'restart',
  about: `start of the process → ready with ${sessions} sessions, after a kill and after an end in order; rebuild of a missing copy`,
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    try {
      await fill(platform, isQuick ? recordsOfHistory / 4 : recordsOfHistory);
      const [orderly, killed] = [[] as number[], [] as number[]];
      for (let i = 0; i < (isQuick ? 2 : 4); i++) {
        orderly.push(await timeToReady(platform));
        await platform.server.kill();
        killed.push(await timeToReady(platform));
        await platform.server.stop();
      }
      return [
        latency(`restart with ${sessions} sessions`, orderly, [{ of: 'p50', atMost: 3_000 }]),
        latency(`restart with ${sessions} sessions after a kill`, killed, [{ of: 'p50', atMost: 3_000 }]),
        await rebuild(platform, orderly),
      ];
    } finally {
      await platform.close();
    }
  },
};

async function fill(platform: BenchPlatform, records: number): Promise<void> {
  const first = (await platform.newSession()) as SessionId;
  await platform.server.stop();
  const log = await DataLog.open(platform.server.dataDirectory);
  const template = await log.templateOf(first);
  await log.newSessions(template, sessions - histories);
  const ids = await log.newSessions(template, histories);
  await Promise.all(ids.map((id) => writeLongSession(log, id, records, 1)));
  await log.close();
}

/** Ready is what `/readyz` says. */
async function timeToReady(platform: BenchPlatform): Promise<number> {
  const began = performance.now();
  await platform.server.start();
  while (!(await platform.isReady())) await new Promise((resolve) => setTimeout(resolve, 5));
  return performance.now() - began;
}

async function rebuild(platform: BenchPlatform, starts: readonly number[]): Promise<Figure> {
  for (const suffix of ['', '-wal', '-shm']) {
    await rm(path.join(platform.server.dataDirectory, `copy.db${suffix}`), { force: true });
  }
  const took = await timeToReady(platform);
  const records = await platform.metric('manyhands_session_log_records_folded_total');
  const folding = took - Math.min(...starts);
  const values = { records, ms: took, recordsPerSecond: (records / folding) * 1_000 };
  const shown = `${records} records in ${round(folding)} ms beyond a start: ${round(values.recordsPerSecond)} records/s`;
  return figure('rebuild of the copy', shown, values, [{ of: 'recordsPerSecond', atLeast: 50_000 }]);
}
