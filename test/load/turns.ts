/** Turns per second with a model that answers at once: 32 clients, each on its own session, each with its stream open. */
import { BenchPlatform, concurrently } from './bench-platform.ts';
import { figure, round, type Figure } from './figures.ts';
import type { Measurement } from './measurement.ts';
import { cpuMs, mebibyte } from './process-usage.ts';

const clients = 32;
const judgedTurns = 20_000;

export const turnsPerSecond: Measurement = {
  name: 'turns',
  about: `turns per second with an instant model, ${clients} sessions at once; processor time of the server per turn`,
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    try {
      await platform.warmUp(isQuick ? 200 : 600);
      return [await measure(platform, isQuick ? 1_500 : 4_000)];
    } finally {
      await platform.close();
    }
  },
};

async function measure(platform: BenchPlatform, turns: number): Promise<Figure> {
  const sessions = await platform.newSessions(clients);
  const listeners = await Promise.all(sessions.map((id) => platform.listen(id)));
  const { pid } = platform.server;
  const [cpuBefore, began] = [cpuMs(pid), performance.now()];
  await concurrently(clients, clients, async (index) => {
    const [sessionId, listener] = [sessions[index] as string, listeners[index] as (typeof listeners)[number]];
    for (let i = 0; i < turns / clients; i++) await platform.turn(sessionId, listener);
  });
  const [seconds, cpu] = [(performance.now() - began) / 1_000, cpuMs(pid) - cpuBefore];
  for (const listener of listeners) listener.close();
  const values = { turnsPerSecond: turns / seconds, cpuMsPerTurn: cpu / turns, cores: cpu / seconds / 1_000 };
  const shown = `${round(values.turnsPerSecond)} turns/s; ${round(values.cpuMsPerTurn)} ms of a core per turn`;
  return figure('turns per second', shown, values, [{ of: 'turnsPerSecond', atLeast: 200 }]);
}

export const memoryGrowth: Measurement = {
  name: 'memory',
  about: 'memory of the server over many turns on 200 sessions; growth from the middle to the end',
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    try {
      return [await growth(platform, isQuick ? 2_000 : judgedTurns)];
    } finally {
      await platform.close();
    }
  },
};

/** Caches fill in the first half; what grows in the second grows for ever. */
async function growth(platform: BenchPlatform, turns: number): Promise<Figure> {
  const steps = 10;
  const used: number[] = [];
  for (let step = 0; step < steps; step++) {
    // New sessions for each step, so that no prompt becomes long.
    const sessions = await platform.newSessions(20);
    await concurrently(20, 20, async (index) => {
      const sessionId = sessions[index] as string;
      const listener = await platform.listen(sessionId);
      for (let i = 0; i < turns / steps / 20; i++) await platform.turn(sessionId, listener);
      listener.close();
    });
    used.push(await leastHeap(platform));
  }
  const rss = await platform.metric('process_resident_memory_bytes');
  // Each is the least of a few, for nobody outside can ask for a collection.
  const [half, end] = [Math.min(...used.slice(2, 5)), Math.min(...used.slice(-3))];
  const values = { turns, halfMiB: half / mebibyte, endMiB: end / mebibyte, rssMiB: rss / mebibyte };
  const shown = `heap ${used.map((bytes) => Math.round(bytes / mebibyte)).join(' ')} MiB; resident ${round(values.rssMiB)} MiB at the end`;
  // Fewer turns than these do not fill the caches, and say nothing of what grows for ever.
  const goals = turns >= judgedTurns ? [{ of: 'growth', atMost: 1.5 }] : [];
  return figure(`memory over ${turns} turns`, shown, { ...values, growth: end / half }, goals);
}

/** The heap after a collection, as near as it can be seen from outside. */
async function leastHeap(platform: BenchPlatform): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < 10; i++) {
    least = Math.min(least, await platform.metric('nodejs_heap_size_used_bytes'));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return least;
}
