/** Processor time and memory of another process, as the kernel tells them. */
import { readFileSync } from 'node:fs';

/** Of the clock in `/proc`; it is 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Milliseconds of one core since its start, all threads together. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may hold anything, so fields are counted behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}

export function rssBytes(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return pages * 4_096;
}

/** Share of one core that a process takes for a while, 1 being a whole core. */
export async function cpuShare(pid: number, forMs: number): Promise<number> {
  const [cpuBefore, before] = [cpuMs(pid), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, forMs));
  return (cpuMs(pid) - cpuBefore) / (performance.now() - before);
}

export const mebibyte = 1024 * 1024;
