/**
 * Where a session's hands keep what they have.
 *
 * ```
 * <directory>/<session>/uploads, outputs            the session's files, shared by its hands
 * <directory>/<session>/<hand>/workspace, home,     what outlives a sandbox and is found by the next one
 *                              tool-outputs
 * <directory>/<session>/<hand>/lives/<generation>/  one life; only `run` and `tmp` can be seen from inside
 * ```
 */
import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { handJournalName, handSocketName } from '@manyhands/core';
import type { HandRef } from '@manyhands/ports';
import type { SessionId } from '@manyhands/protocol';
import { isMissing } from '../durable-file.ts';

export type HandFolders = {
  workspace: string;
  home: string;
  uploads: string;
  outputs: string;
  toolOutputs: string;
};

export class LifeDirectory {
  readonly ref: HandRef;
  readonly folders: HandFolders;
  readonly path: string;
  /** Socket, journal and fence: written by the daemon, and by whatever runs beside it. */
  readonly run: string;
  readonly tmp: string;
  /** Processes that were started for this life, one a line. */
  readonly processes: string;
  /** Stands here once this life may not begin any more, or is over. */
  readonly seal: string;
  readonly environment: string;
  readonly cgroups: string;
  readonly log: string;
  /** Where the sandbox's root is put together, in a mount namespace of its own. */
  readonly root: string;
  /** What is mounted there. */
  readonly mounts: string;
  /** The files of the sandbox's `/etc`. */
  readonly etc: string;

  constructor(directory: string, ref: HandRef) {
    const session = join(directory, ref.sessionId);
    const hand = join(session, ref.hand);
    this.ref = ref;
    this.folders = {
      workspace: join(hand, 'workspace'),
      home: join(hand, 'home'),
      uploads: join(session, 'uploads'),
      outputs: join(session, 'outputs'),
      toolOutputs: join(hand, 'tool-outputs'),
    };
    this.path = join(hand, 'lives', String(ref.generation));
    const inside = (name: string): string => join(this.path, name);
    this.run = inside('run');
    this.tmp = inside('tmp');
    this.processes = inside('processes');
    this.seal = inside('sealed');
    this.environment = inside('environment.json');
    this.cgroups = inside('cgroups');
    this.log = inside('hand.log');
    this.root = inside('root');
    this.mounts = inside('mounts');
    this.etc = inside('etc');
  }

  get socket(): string {
    return join(this.run, handSocketName);
  }

  get journal(): string {
    return join(this.run, handJournalName);
  }

  /** What the sandbox can see, and therefore belongs to its user. */
  get shown(): string[] {
    return [...Object.values(this.folders), this.run, this.tmp];
  }

  create(): void {
    for (const folder of [...this.shown, this.root]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(this.tmp, 0o1777);
  }
}

/** The lives a session has had, those of each hand in their order. */
export function livesOf(directory: string, sessionId: SessionId): LifeDirectory[] {
  return names(join(directory, sessionId)).flatMap((hand) =>
    names(join(directory, sessionId, hand, 'lives'))
      .map(Number)
      .filter(Number.isSafeInteger)
      .sort((a, b) => a - b)
      .map((generation) => new LifeDirectory(directory, { sessionId, hand, generation })),
  );
}

export function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR') return [];
    throw error;
  }
}
