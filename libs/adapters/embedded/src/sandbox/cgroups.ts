/**
 * Limits of a whole sandbox, where this process may make control groups below its own: version 1 with its hierarchies,
 * or version 2 with the controllers handed down. Where it may not, there are none, and that is no error.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxLimits } from './limits.ts';

const mount = '/sys/fs/cgroup';

/** The directories that were made. */
export function makeCgroups(name: string, limits: SandboxLimits): string[] {
  const settings = {
    memory: { 'memory.limit_in_bytes': limits.memoryBytes, 'memory.max': limits.memoryBytes },
    pids: { 'pids.max': limits.maxProcesses },
  };
  return ownCgroups().flatMap(({ directory, controllers }) => {
    const wanted = controllers.flatMap((controller) =>
      Object.entries(settings[controller as keyof typeof settings] ?? {}),
    );
    const made = join(directory, name);
    if (wanted.length === 0 || !make(made)) return [];
    if (wanted.filter(([file, value]) => set(join(made, file), value)).length > 0) return [made];
    removeCgroups([made]);
    return [];
  });
}

/** Only empty ones can be removed; one that is not is left for the next time. */
export function removeCgroups(directories: string[]): void {
  for (const directory of directories) {
    try {
      rmdirSync(directory);
    } catch {
      // Removed before, or a process is still on its way out.
    }
  }
}

interface OwnCgroup {
  directory: string;
  controllers: string[];
}

function ownCgroups(): OwnCgroup[] {
  if (!existsSync('/proc/self/cgroup')) return [];
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [, controllers = '', path = '/'] = line.split(':');
    if (controllers) return [{ directory: join(mount, controllers, path), controllers: controllers.split(',') }];
    const directory = join(mount, path);
    return existsSync(join(directory, 'cgroup.controllers')) ? [{ directory, controllers: ['memory', 'pids'] }] : [];
  });
}

function make(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

/** A controller that was not handed down has no such file, and making one is refused. */
function set(file: string, value: number): boolean {
  try {
    writeFileSync(file, String(value), { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
}
