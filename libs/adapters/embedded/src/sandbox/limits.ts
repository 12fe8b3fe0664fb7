import { readFileSync } from 'node:fs';

/** What one sandbox may use. Memory and, for some users, processes are kept only where a cgroup can be made. */
export interface SandboxLimits {
  memoryBytes: number;
  maxProcesses: number;
  maxFileBytes: number;
  maxOpenFiles: number;
}

export const defaultLimits: SandboxLimits = {
  memoryBytes: 8 * 1024 ** 3,
  maxProcesses: 2048,
  maxFileBytes: 10 * 1024 ** 3,
  maxOpenFiles: 16_384,
};

/** The start of a command line that sets resource limits, none above what this process itself is held to. */
export function limitCommand(limits: SandboxLimits): string[] {
  const hard = hardLimits();
  const atMost = (wanted: number, name: string): number => Math.min(wanted, hard.get(name) ?? Infinity);
  return [
    '/usr/bin/prlimit',
    '--core=0:0',
    `--nproc=${pair(atMost(limits.maxProcesses, 'Max processes'))}`,
    `--fsize=${pair(atMost(limits.maxFileBytes, 'Max file size'))}`,
    `--nofile=${pair(atMost(limits.maxOpenFiles, 'Max open files'))}`,
    '--',
  ];
}

function pair(value: number): string {
  return `${value}:${value}`;
}

function hardLimits(): Map<string, number> {
  const lines = readFileSync('/proc/self/limits', 'utf8').split('\n').slice(1);
  return new Map(
    lines.flatMap((line) => {
      const [name, , hard] = line.split(/\s{2,}/);
      return name && hard && hard !== 'unlimited' ? [[name, Number(hard)] as const] : [];
    }),
  );
}
