/**
 * Hands on this machine: each a daemon in a sandbox of its own, with its files below one directory.
 *
 * - A daemon is detached. It is found again by the processes that were written down for it, which are told from others
 *   by pid and start time, and by its socket, which nobody else can take: where it listens, the hand lives.
 * - A life is launched at most once, by whichever server; what races is decided by the daemon (see `apps/hand`).
 * - A new life begins when those before it have ended for certain, so two never share a workspace.
 * - The caller holds the data directory's lock: there is one provider at a time.
 */
import type { ChildProcess } from 'node:child_process';
import { createHash, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  SandboxError,
  type Execution,
  type HandRef,
  type Logger,
  type SandboxProvider,
  type SandboxSpec,
  type SandboxStatus,
} from '@manyhands/ports';
import type { EnvironmentSettings, EventId, SessionId } from '@manyhands/protocol';
import { makeCgroups } from './cgroups.ts';
import { daemonCommand, type Isolation } from './daemon-command.ts';
import { isDiskFull } from './disk-full.ts';
import { isolationProblem, isolations, type ProbeParts } from './isolation.ts';
import { launch } from './launch.ts';
import { LifeDirectory, livesOf, names } from './life-directory.ts';
import { endLife, stateOf } from './life.ts';
import { defaultLimits, type SandboxLimits } from './limits.ts';
import { readJournal } from './read-journal.ts';
import { removeTree } from './remove-tree.ts';
import { giveTo, userOf } from './sandbox-user.ts';
import type { LifeOfConfig } from './sandbox-view.ts';
import { SocketPaths } from './socket-paths.ts';

export interface LocalSandboxOptions {
  /** Everything of all hands is below it. */
  directory: string;
  /** The daemon, one file: `hand.mjs`. */
  handBundle: string;
  /** Public half of the Ed25519 key that grants are signed with. */
  grantPublicKey: KeyObject;
  /**
   * Opens the egress proxy's socket for a hand, or finds it open. Its directory is what the sandbox sees, and is the same
   * for the same hand also after a restart. Asked again when a hand is found after a restart.
   */
  egressSocketFor(ref: HandRef, environment: EnvironmentSettings): Promise<string>;
  /** Closes it: the hand is gone. */
  releaseEgress(ref: HandRef): Promise<void>;
  logger: Logger;
  /** The only one to be used; by default the first that works. */
  isolation?: Isolation;
  /** Runs commands as the server's own user, with all its files and network, where no isolation works. */
  unsafeNoIsolation?: boolean;
  idleMs?: number;
  limits?: Partial<SandboxLimits>;
  /** Paths of the server; they matter where they lie below a system folder. The directory itself is always hidden. */
  hidden?: string[];
  /** Further paths of the machine, such as language runtimes, shown read-only. */
  shown?: string[];
}

const defaultIdleMs = 10 * 60_000;
const destroyedSuffix = '.destroyed';

type Running = SandboxStatus & { state: 'running' };

export class LocalSandboxProvider implements SandboxProvider {
  readonly isolation: Isolation;
  readonly #options: LocalSandboxOptions;
  readonly #parts: ProbeParts;
  readonly #sockets = new SocketPaths();
  readonly #provisioning = new Map<string, Promise<Running>>();
  /** Lives that are over for certain: sealed, and without a process. */
  readonly #over = new Set<string>();
  /** Lives whose way out was opened by this process. */
  readonly #egressOpen = new Map<string, string>();

  private constructor(options: LocalSandboxOptions, parts: ProbeParts, isolation: Isolation) {
    this.#options = options;
    this.#parts = parts;
    this.isolation = isolation;
  }

  /**
   * Finds out what works on this machine. Throws `SandboxError`: `'no-isolation'` when nothing does, `'unavailable'` when
   * that cannot be told because the disk is full.
   */
  static async open(options: LocalSandboxOptions): Promise<LocalSandboxProvider> {
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    const parts = {
      bundle: copyBundle(options),
      limits: { ...defaultLimits, ...options.limits },
      hidden: [options.directory, ...(options.hidden ?? [])],
      shown: options.shown ?? [],
    };
    const found: string[] = [];
    for (const isolation of candidates(options)) {
      const problem = isolation === 'none' ? null : await isolationProblem(isolation, options.directory, parts);
      if (problem === null) return new LocalSandboxProvider(options, parts, isolation);
      found.push(`${isolation}: ${problem}`);
      options.logger.warn({ isolation, problem }, 'a way of isolating commands does not work on this machine');
    }
    if (isDiskFull(options.directory))
      throw new SandboxError(
        'unavailable',
        `sandboxes cannot be tried out: no space left on the disk of ${options.directory}`,
      );
    throw new SandboxError('no-isolation', `commands cannot be isolated on this machine (${found.join('; ')})`);
  }

  async provision(spec: SandboxSpec, signal: AbortSignal): Promise<Running> {
    signal.throwIfAborted();
    const key = keyOf(spec.ref);
    const going = this.#provisioning.get(key) ?? this.#begin(key, spec);
    return unlessAborted(going, signal);
  }

  async find(ref: HandRef): Promise<SandboxStatus> {
    const going = this.#provisioning.get(keyOf(ref));
    if (going) await going.catch(() => {}); // Its caller is told; here the outcome shows below.
    const life = new LifeDirectory(this.#options.directory, ref);
    if (this.#over.has(life.path)) return { state: 'gone' };
    const state = await stateOf(life, this.#sockets);
    if (state === 'running') return this.#running(life);
    // One that never began still may: the next generation seals it before it begins itself.
    if (state === 'over') await this.#end(life);
    return { state: 'gone' };
  }

  async end(ref: HandRef): Promise<void> {
    await this.#provisioning.get(keyOf(ref))?.catch(() => {}); // Its caller is told; here what it left is ended.
    const life = new LifeDirectory(this.#options.directory, ref);
    if (existsSync(life.path) && !this.#over.has(life.path)) await this.#end(life);
  }

  async journal(ref: HandRef, executionId: EventId): Promise<Execution> {
    return readJournal(new LifeDirectory(this.#options.directory, ref).journal, executionId);
  }

  async destroy(sessionId: SessionId): Promise<void> {
    const { directory } = this.#options;
    await Promise.allSettled(
      [...this.#provisioning].filter(([key]) => key.startsWith(`${sessionId}/`)).map(([, p]) => p),
    );
    const lives = livesOf(directory, sessionId);
    for (const life of lives) await this.#end(life);
    // Under another name first, so that nothing finds the way to a directory that is half there.
    const destroyed = join(directory, sessionId + destroyedSuffix);
    if (existsSync(join(directory, sessionId))) {
      await removeTree(destroyed);
      await rename(join(directory, sessionId), destroyed);
    }
    await removeTree(destroyed);
    for (const { path } of lives) this.#over.delete(path);
  }

  async list(): Promise<SessionId[]> {
    const sessions = names(this.#options.directory).filter((name) => name.startsWith('sesn_'));
    return [...new Set(sessions.map((name) => name.replace(destroyedSuffix, '') as SessionId))];
  }

  #begin(key: string, spec: SandboxSpec): Promise<Running> {
    const going = this.#provision(spec).finally(() => this.#provisioning.delete(key));
    this.#provisioning.set(key, going);
    return going;
  }

  async #provision({ ref, environment }: SandboxSpec): Promise<Running> {
    const life = new LifeDirectory(this.#options.directory, ref);
    switch (await stateOf(life, this.#sockets)) {
      case 'running':
        return this.#running(life);
      case 'over':
        await this.#end(life);
        throw new SandboxError('gone', `generation ${ref.generation} of this hand is over`);
      case 'never-launched':
        await this.#endEarlierThan(ref);
        return this.#awaitStart(life, await this.#launch(life, environment));
    }
  }

  async #launch(life: LifeDirectory, environment: EnvironmentSettings): Promise<ChildProcess> {
    life.create();
    writeFileSync(life.environment, JSON.stringify(environment), { mode: 0o600 });
    const egressSocket = await this.#openEgress(life);
    const user = userOf(life.ref.sessionId);
    giveTo(user, life.shown);
    const cgroups = makeCgroups(`manyhands-${nameHash(life)}`, this.#parts.limits);
    writeFileSync(life.cgroups, cgroups.join('\n'), { mode: 0o600 });
    const config = this.#config(life);
    this.#options.logger.info({ ...life.ref, isolation: this.isolation }, 'launching a hand');
    return launch(
      life,
      cgroups.map((directory) => join(directory, 'cgroup.procs')),
      daemonCommand(this.isolation, { ...this.#parts, life, user, config, egressSocket }),
    );
  }

  #config(life: LifeDirectory): LifeOfConfig {
    const { sessionId: session, hand, generation } = life.ref;
    const { grantPublicKey, idleMs = defaultIdleMs } = this.#options;
    const publicKey = grantPublicKey.export({ format: 'der', type: 'spki' }).toString('base64url');
    return { session, hand, generation, publicKey, idleMs };
  }

  async #awaitStart(life: LifeDirectory, launched: ChildProcess): Promise<Running> {
    let state = await stateOf(life, this.#sockets);
    // It may not have come to write itself down yet. One that has ended by then never will.
    while (state === 'never-launched' && launched.exitCode === null && launched.signalCode === null) {
      await sleep(2);
      state = await stateOf(life, this.#sockets);
    }
    if (state === 'running') return this.#running(life);
    await this.#end(life);
    const log = await readFile(life.log, 'utf8').catch(() => '');
    throw new SandboxError('failed', `the sandbox did not start: ${log.trim().slice(-500) || 'it said nothing'}`);
  }

  async #running(life: LifeDirectory): Promise<Running> {
    await this.#openEgress(life);
    return { state: 'running', address: { kind: 'unix', socketPath: this.#sockets.shorten(life.socket) } };
  }

  async #openEgress(life: LifeDirectory): Promise<string> {
    const known = this.#egressOpen.get(life.path);
    if (known !== undefined) return known;
    const environment = JSON.parse(readFileSync(life.environment, 'utf8')) as EnvironmentSettings;
    const socketPath = await this.#options.egressSocketFor(life.ref, environment);
    this.#egressOpen.set(life.path, socketPath);
    return socketPath;
  }

  async #endEarlierThan(ref: HandRef): Promise<void> {
    const lives = livesOf(this.#options.directory, ref.sessionId);
    for (const life of lives)
      if (life.ref.hand === ref.hand && life.ref.generation < ref.generation && !this.#over.has(life.path))
        await this.#end(life);
  }

  async #end(life: LifeDirectory): Promise<void> {
    await endLife(life);
    this.#sockets.forget(life.socket);
    await removeTree(life.tmp);
    if (existsSync(life.seal)) this.#over.add(life.path);
    if (this.#egressOpen.delete(life.path)) await this.#options.releaseEgress(life.ref);
  }
}

function candidates({ isolation, unsafeNoIsolation }: LocalSandboxOptions): readonly Isolation[] {
  if (isolation) return [isolation];
  return unsafeNoIsolation ? [...isolations, 'none'] : isolations;
}

/** The daemon outlives the server's files: an update may replace or remove them. Readable for whoever a sandbox is. */
function copyBundle({ directory, handBundle }: LocalSandboxOptions): string {
  const bytes = readFileSync(handBundle);
  const path = join(directory, `hand-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.mjs`);
  if (!existsSync(path)) {
    writeFileSync(`${path}.new`, bytes, { mode: 0o644 });
    renameSync(`${path}.new`, path);
  }
  return path;
}

function keyOf({ sessionId, hand, generation }: HandRef): string {
  return `${sessionId}/${hand}/${generation}`;
}

function nameHash({ path }: LifeDirectory): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}

/** Stops waiting when the signal says so; what is awaited goes on. */
async function unlessAborted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([awaited, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
