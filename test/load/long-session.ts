/** How much longer the wake of a session with 50,000 records takes than a new one's: POST → request at the model. */
import type { SessionId } from '@manyhands/protocol';
import { BenchPlatform } from './bench-platform.ts';
import { DataLog } from './data-log.ts';
import { figure, percentile, round, type Figure } from './figures.ts';
import { writeLongSession } from './history.ts';
import type { Measurement } from './measurement.ts';

const records = 50_000;

export const longSession: Measurement = {
  name: 'long-session',
  about: `POST → request at the model, a session of ${records} records against a new one; first after a restart, and warm`,
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    try {
      const ids = await fill(platform, isQuick ? 2 : 4);
      await platform.warmUp(200);
      const [fresh, cold, warm] = [[] as number[], [] as number[], [] as number[]];
      for (const id of ids) cold.push(await wakeTime(platform, id));
      for (let i = 0; i < 20; i++) {
        fresh.push(await wakeTime(platform, await platform.newSession()));
        warm.push(await wakeTime(platform, ids[i % ids.length] as string));
      }
      return [figureOf('first wake after a restart', cold, fresh), figureOf('warm wake', warm, fresh)];
    } finally {
      await platform.close();
    }
  },
};

async function fill(platform: BenchPlatform, count: number): Promise<SessionId[]> {
  const first = (await platform.newSession()) as SessionId;
  await platform.server.stop();
  const log = await DataLog.open(platform.server.dataDirectory);
  const ids = await log.newSessions(await log.templateOf(first), count);
  for (const id of ids) await writeLongSession(log, id, records);
  await log.close();
  await platform.server.start();
  return ids;
}

async function wakeTime(platform: BenchPlatform, sessionId: string): Promise<number> {
  const scriptId = crypto.randomUUID();
  const listener = await platform.listen(sessionId);
  const idle = listener.nextOf('session.status_idle');
  const sentAt = await platform.play(sessionId, [[{ text: 'Here.' }]], scriptId);
  await idle;
  listener.close();
  const request = (await platform.model.requestsByScript()).get(scriptId)?.[0];
  if (!request) throw new Error(`the model never saw ${scriptId}`);
  return request.arrivedAt - sentAt;
}

function figureOf(name: string, samples: readonly number[], fresh: readonly number[]): Figure {
  const [p50, freshP50] = [percentile(samples, 0.5), percentile(fresh, 0.5)];
  const max = Math.max(...samples);
  const values = { p50, max, freshP50, beyond: p50 - freshP50 };
  const shown = `p50 ${round(p50)} max ${round(max)} ms; a new session ${round(freshP50)} ms  (${samples.length})`;
  return figure(`${records} records: ${name}`, shown, values, [{ of: 'beyond', atMost: 50 }], ' ms');
}
