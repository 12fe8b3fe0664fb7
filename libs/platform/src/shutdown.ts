/** The end of a process: wait for a signal, then run the steps in order, each with a limit. */
import type { Logger } from '@manyhands/ports';

const signals = ['SIGTERM', 'SIGINT'] as const;
export type StopSignal = (typeof signals)[number];

export interface ShutdownStep {
  name: string;
  run(): void | Promise<void>;
  /** After this time the next step starts, and the exit code says that something was cut. */
  limitMs: number;
}

/**
 * A second signal so soon after the first is the same one: a terminal sends Ctrl-C to npm and to us, and npm passes it on.
 * Milliseconds.
 */
const sameSignalMs = 1_000;

/** Resolves at the first signal. A later one ends the process at once: whoever sends it has waited long enough. */
export function untilStopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    for (const signal of signals) {
      process.on(signal, () => {
        if (askedAt !== null && performance.now() - askedAt > sameSignalMs) process.exit(1);
        askedAt ??= performance.now();
        resolve(signal);
      });
    }
  });
}

/** Runs every step, also after one failed, and gives the exit code: 0 when all ended well in time. */
export async function shutDown(steps: readonly ShutdownStep[], logger: Logger): Promise<0 | 1> {
  let exitCode: 0 | 1 = 0;
  for (const step of steps) {
    try {
      if (await endsWithin(step.limitMs, step.run())) continue;
      logger.warn({ step: step.name, limitMs: step.limitMs }, 'a step of the shutdown did not end in time');
    } catch (error) {
      logger.error({ step: step.name, error }, 'a step of the shutdown failed');
    }
    exitCode = 1;
  }
  return exitCode;
}

async function endsWithin(limitMs: number, work: void | Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([Promise.resolve(work).then(() => true), limit]);
  } finally {
    clearTimeout(timer);
  }
}
