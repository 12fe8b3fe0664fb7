/**
 * Processes of the machine, told apart for good: a number alone comes round again, with its start time and the boot it
 * does not.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { isMissing } from '../durable-file.ts';

export interface RecordedProcess {
  pid: number;
  /** In clock ticks since the boot: field 22 of its stat. */
  startTime: string;
  bootId: string;
}

/** The file that a launcher adds its line to. A torn line is the last thing its writer did. */
export function readProcesses(path: string): RecordedProcess[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    const [pid, startTime, bootId] = line.split(' ');
    return startTime && bootId ? [{ pid: Number(pid), startTime, bootId }] : [];
  });
}

export function isAlive(recorded: RecordedProcess): boolean {
  const stat = readText(`/proc/${recorded.pid}/stat`);
  // Where there is no /proc there is no start time either: the number has to do.
  if (recorded.startTime === '-') return canBeSignalled(recorded.pid);
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === undefined || state === 'Z' || state === 'X') return false;
  return fields[18] === recorded.startTime && readText('/proc/sys/kernel/random/boot_id').trim() === recorded.bootId;
}

/**
 * The processes whose own view of the file system has this directory at that place. Nothing a process does to its name,
 * its parent or its group hides it from this.
 */
export function processesThatSee(directory: string, at: string): number[] {
  const wanted = statSync(directory, { throwIfNoEntry: false });
  if (!wanted) return [];
  return processIds().filter((pid) => {
    try {
      const seen = statSync(`/proc/${pid}/root${at}`);
      return seen.ino === wanted.ino && seen.dev === wanted.dev;
    } catch {
      return false; // It has no such place, or is nobody we may look at.
    }
  });
}

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function canBeSignalled(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
