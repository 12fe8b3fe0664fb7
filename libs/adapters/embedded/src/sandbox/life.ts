/** Looks at one life of a hand from outside, and ends it. */
import { existsSync, lstatSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeCgroups } from './cgroups.ts';
import type { LifeDirectory } from './life-directory.ts';
import { isAlive, kill, processesThatSee, readProcesses } from './processes.ts';
import { inside } from './sandbox-view.ts';
import { isListening, type SocketPaths } from './socket-paths.ts';

/** A start takes a quarter of a second; on a machine that is as busy as this, nothing would work. */
const startTimeoutMs = 20_000;
const startPollMs = 4;
/** What a daemon without a sandbox gets to kill its own commands. */
const politeEndMs = 1_000;
const endTimeoutMs = 10_000;

export type LifeState = 'running' | 'never-launched' | 'over';

/** Waits for a life that has begun until it listens or is dead. */
export async function stateOf(life: LifeDirectory, sockets: SocketPaths): Promise<LifeState> {
  if (!existsSync(life.path)) return 'never-launched';
  const deadline = performance.now() + startTimeoutMs;
  for (;;) {
    // In this order: a process that was alive before the socket was tried may have been on its way to it.
    const processes = readProcesses(life.processes);
    const alive = processes.some(isAlive);
    if (isSocket(life.socket) && (await isListening(sockets.shorten(life.socket)))) return 'running';
    if (!alive) return processes.length > 0 || existsSync(life.seal) ? 'over' : 'never-launched';
    if (performance.now() > deadline) return 'over';
    await sleep(startPollMs);
  }
}

/** Commands can write where the socket is: a link there would lead to whatever they like, and they can close the way. */
function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false; // Whoever cannot see it cannot connect to it either.
  }
}

/** From now on no launcher that comes late begins this life. */
function seal(life: LifeDirectory): void {
  if (existsSync(life.path)) writeFileSync(life.seal, '');
}

/** Ends every process of a life, and resolves when there is none. */
export async function endLife(life: LifeDirectory): Promise<void> {
  seal(life);
  const deadline = performance.now() + endTimeoutMs;
  const politeUntil = performance.now() + politeEndMs;
  for (;;) {
    const within = processesThatSee(life.run, inside.run);
    const recorded = readProcesses(life.processes).filter(isAlive);
    if (within.length === 0 && recorded.length === 0) break;
    if (performance.now() > deadline) throw new Error(`processes of ${life.path} do not end`);
    for (const pid of within) kill(pid);
    // With nobody inside there is a launcher, or a daemon without isolation that ends its own commands when asked.
    const signal = within.length > 0 || performance.now() > politeUntil ? 'SIGKILL' : 'SIGTERM';
    for (const { pid } of recorded) kill(pid, signal);
    await sleep(startPollMs);
  }
  removeCgroups(await recordedCgroups(life));
}

async function recordedCgroups(life: LifeDirectory): Promise<string[]> {
  const text = await readFile(life.cgroups, 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean);
}
