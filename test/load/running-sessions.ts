/** 500 sessions in `running` in one process, each with a model that speaks slowly. */
import { BenchPlatform, concurrently } from './bench-platform.ts';
import { figure, round } from './figures.ts';
import type { Measurement } from './measurement.ts';
import { cpuShare, mebibyte, rssBytes } from './process-usage.ts';

const count = 500;
const tokenDelayMs = 250;
/** Long enough that all run while it is measured. */
const slowAnswer = [{ blocks: [{ text: 'Slowly, very slowly. '.repeat(400) }], tokenDelayMs }];

export const runningSessions: Measurement = {
  name: 'running',
  about: `${count} running sessions, a token every ${tokenDelayMs} ms each: memory and processor time of the server`,
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    try {
      const sessions = await platform.newSessions(count);
      const { pid } = platform.server;
      const rssBefore = rssBytes(pid);
      await concurrently(32, count, async (index) => void (await platform.play(sessions[index] as string, slowAnswer)));
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const cores = await cpuShare(pid, isQuick ? 4_000 : 10_000);
      const running = await platform.metric('manyhands_harness_running_sessions');
      const rss = rssBytes(pid);
      const values = { running, cores, rssMiB: rss / mebibyte, mibPerSession: (rss - rssBefore) / mebibyte / count };
      const shown = `${running} run; ${round(cores * 100)} % of a core; ${round(values.rssMiB)} MiB, ${round(values.mibPerSession)} MiB each`;
      const goals = [
        { of: 'running', atLeast: count },
        { of: 'cores', atMost: 1 },
      ];
      return [figure('running sessions with slow models', shown, values, goals)];
    } finally {
      await platform.close();
    }
  },
};
