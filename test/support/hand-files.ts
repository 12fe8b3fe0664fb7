/** What the sandboxes of a server leave on the machine, seen from outside: workspaces, counters, processes. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { counterFile } from './rounds.ts';

export class HandFiles {
  readonly #directory: string;

  constructor(dataDirectory: string) {
    this.#directory = path.join(dataDirectory, 'hands');
  }

  /** Sessions that have a directory here. */
  sessions(): string[] {
    return namesIn(this.#directory).filter((name) => name.startsWith('sesn_'));
  }

  has(sessionId: string): boolean {
    return this.sessions().some((name) => name.startsWith(sessionId));
  }

  workspace(sessionId: string): string {
    return path.join(this.#directory, sessionId, 'main', 'workspace');
  }

  /** Generations of the sandbox that there were. */
  generations(sessionId: string): number[] {
    return namesIn(path.join(this.#directory, sessionId, 'main', 'lives'))
      .map(Number)
      .sort((one, other) => one - other);
  }

  counts(sessionId: string): CommandCounts {
    const file = path.join(this.workspace(sessionId), counterFile);
    return new CommandCounts(existsSync(file) ? readFileSync(file, 'utf8') : '');
  }

  /** Marks of the commands that have begun and not ended, in all sandboxes. */
  runningCommands(): string[] {
    return this.sessions().flatMap((sessionId) => this.counts(sessionId).running());
  }
}

/** What counting commands wrote down. */
export class CommandCounts {
  readonly #lines: readonly string[];

  constructor(text: string) {
    this.#lines = text.split('\n').filter(Boolean);
  }

  starts(mark: string): number {
    return this.#count(`start ${mark}`);
  }

  ends(mark: string): number {
    return this.#count(`end ${mark}`);
  }

  running(): string[] {
    const marks = this.#lines.filter((line) => line.startsWith('start ')).map((line) => line.slice('start '.length));
    return marks.filter((mark) => this.ends(mark) === 0);
  }

  #count(wanted: string): number {
    return this.#lines.filter((line) => line === wanted).length;
  }
}

/** Processes of this machine whose command line has the text in it: a session's id finds its sandboxes. */
export function processesOf(text: string): number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && commandLine(pid).includes(text));
}

/** The daemons themselves, without what keeps them isolated. */
export function daemonsOf(sessionId: string): number[] {
  return processesOf(sessionId).filter((pid) => /^\S*node\s/.test(commandLine(pid)));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // It ended meanwhile.
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
