/** What a server costs that has nothing to do. */
import { BenchPlatform } from './bench-platform.ts';
import { figure, round, type Figure } from './figures.ts';
import type { Measurement } from './measurement.ts';
import { cpuShare, mebibyte, rssBytes } from './process-usage.ts';

const sessions = 1_000;
const streams = 10;

export const idle: Measurement = {
  name: 'idle',
  about: `share of a core without sessions, and with ${sessions} idle sessions and ${streams} open streams`,
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    const forMs = isQuick ? 4_000 : 15_000;
    try {
      await settled();
      const empty = await measured('idle server', platform, forMs);
      const ids = await platform.newSessions(sessions);
      const listeners = await Promise.all(ids.slice(0, streams).map((id) => platform.listen(id)));
      await settled();
      const full = await measured(`idle server, ${sessions} sessions, ${streams} streams`, platform, forMs);
      for (const listener of listeners) listener.close();
      return [empty, full];
    } finally {
      await platform.close();
    }
  },
};

/** What the start or the last request left to do is done. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2_000));
}

async function measured(name: string, platform: BenchPlatform, forMs: number): Promise<Figure> {
  const { pid } = platform.server;
  const percent = (await cpuShare(pid, forMs)) * 100;
  const rssMiB = rssBytes(pid) / mebibyte;
  const shown = `${round(percent)} % of a core, ${round(rssMiB)} MiB`;
  return figure(name, shown, { percent, rssMiB }, [{ of: 'percent', atMost: 2 }]);
}
