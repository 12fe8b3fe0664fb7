/**
 * Sandboxes in memory that honour the contracts of `SandboxProvider`, `HandConnector` and `Hand`, and count what was
 * started in them. They outlive every process of the platform.
 */
import type {
  ExecuteRequest,
  Execution,
  Hand,
  HandAddress,
  HandConnector,
  HandRef,
  SandboxProvider,
  SandboxSpec,
  SandboxStatus,
} from '@manyhands/ports';
import { HandError, SandboxError } from '@manyhands/ports';
import type { Epoch, EventId, SessionId, ToolResultContent } from '@manyhands/protocol';

export interface Start {
  ref: HandRef;
  /** When the sandbox came to be. */
  livesSince: number;
  epoch: Epoch;
  executionId: EventId;
}

/** How a call ends; `hangs` until it is cancelled. */
export type CallEnd = { isError: boolean; text: string; files?: Map<string, string> } | 'hangs';

export interface SimHandsOptions {
  /** How long a sandbox takes to start, a request to travel, a call to run. */
  pause: (what: 'start' | 'travel' | 'run') => Promise<void>;
  /** What a call does to the session's files, and how it ends. */
  run: (request: ExecuteRequest, files: Map<string, string>) => CallEnd;
  now?: () => number;
  onStart?: (start: Start) => void;
  /** Whether a request gets no answer this time. */
  isUnreachable?: () => boolean;
}

interface RunningCall {
  finished: Promise<Execution & { state: 'finished' }>;
  finish: (end: Exclude<CallEnd, 'hangs'>) => void;
}

interface Sandbox {
  ref: HandRef;
  livesSince: number;
  isAlive: boolean;
  died: Promise<void>;
  die: () => void;
  epoch: number;
  journal: Map<EventId, Execution>;
  running: Map<EventId, RunningCall>;
  files: Map<string, string>;
}

export class SimHands implements SandboxProvider, HandConnector {
  /** Every start, in order. */
  readonly starts: Start[] = [];
  readonly #options: SimHandsOptions;
  readonly #sandboxes = new Map<string, Sandbox>();
  readonly #files = new Map<string, Map<string, string>>();

  constructor(options: SimHandsOptions) {
    this.#options = options;
  }

  async provision({ ref }: SandboxSpec, signal: AbortSignal): Promise<SandboxStatus & { state: 'running' }> {
    signal.throwIfAborted();
    const sandbox = this.#sandboxes.get(nameOf(ref)) ?? this.#create(ref);
    await this.#options.pause('start');
    signal.throwIfAborted();
    if (!sandbox.isAlive) throw new SandboxError('gone', `${nameOf(ref)} has lived`);
    return { state: 'running', address: addressOf(ref) };
  }

  async find(ref: HandRef): Promise<SandboxStatus> {
    await this.#options.pause('travel');
    const isAlive = this.#sandboxes.get(nameOf(ref))?.isAlive ?? false;
    return isAlive ? { state: 'running', address: addressOf(ref) } : { state: 'gone' };
  }

  async end(ref: HandRef): Promise<void> {
    await this.#options.pause('travel');
    this.kill(ref);
  }

  async journal(ref: HandRef, executionId: EventId): Promise<Execution> {
    await this.#options.pause('travel');
    return this.#sandboxes.get(nameOf(ref))?.journal.get(executionId) ?? { state: 'unknown' };
  }

  async destroy(sessionId: SessionId): Promise<void> {
    for (const [name, sandbox] of this.#sandboxes) {
      if (sandbox.ref.sessionId !== sessionId) continue;
      sandbox.die();
      this.#sandboxes.delete(name);
    }
    for (const name of this.#files.keys()) if (name.startsWith(`${sessionId}/`)) this.#files.delete(name);
  }

  async list(): Promise<SessionId[]> {
    return [...new Set([...this.#sandboxes.values()].map((sandbox) => sandbox.ref.sessionId))];
  }

  connect(ref: HandRef, _address: HandAddress): Hand {
    return new SimHand(
      ref,
      this.#options,
      () => this.#reach(ref),
      (start) => this.#started(start),
    );
  }

  /** Ends a sandbox without warning. */
  kill(ref: HandRef): void {
    this.#sandboxes.get(nameOf(ref))?.die();
  }

  alive(): HandRef[] {
    return [...this.#sandboxes.values()].filter((sandbox) => sandbox.isAlive).map((sandbox) => sandbox.ref);
  }

  #started(start: Start): void {
    this.starts.push(start);
    this.#options.onStart?.(start);
  }

  /** The sandbox at the end of the line; a later generation than the caller's means another life. */
  #reach(ref: HandRef): Sandbox {
    const latest = [...this.#sandboxes.values()].findLast(
      (sandbox) => sandbox.isAlive && sandbox.ref.sessionId === ref.sessionId && sandbox.ref.hand === ref.hand,
    );
    if (latest && latest.ref.generation !== ref.generation)
      throw new HandError('fenced', 'another generation lives here');
    const sandbox = this.#sandboxes.get(nameOf(ref));
    if (!sandbox?.isAlive) throw new HandError('lost', `${nameOf(ref)} is dead`);
    return sandbox;
  }

  #create(ref: HandRef): Sandbox {
    const workspace = `${ref.sessionId}/${ref.hand}`;
    const files = this.#files.get(workspace) ?? new Map<string, string>();
    this.#files.set(workspace, files);
    for (const other of this.#sandboxes.values()) {
      const isEarlier =
        `${other.ref.sessionId}/${other.ref.hand}` === workspace && other.ref.generation < ref.generation;
      if (isEarlier) other.die();
    }
    const sandbox = newSandbox(ref, files, this.#options.now?.() ?? 0);
    this.#sandboxes.set(nameOf(ref), sandbox);
    return sandbox;
  }
}

class SimHand implements Hand {
  readonly ref: HandRef;
  readonly #options: SimHandsOptions;
  readonly #reach: () => Sandbox;
  readonly #onStart: (start: Start) => void;

  constructor(ref: HandRef, options: SimHandsOptions, reach: () => Sandbox, onStart: (start: Start) => void) {
    this.ref = ref;
    this.#options = options;
    this.#reach = reach;
    this.#onStart = onStart;
  }

  async fence(epoch: Epoch): Promise<EventId[]> {
    const sandbox = await this.#arrive(epoch);
    const running = [...sandbox.running.keys()];
    await this.#options.pause('travel');
    return running;
  }

  async execute(
    epoch: Epoch,
    request: ExecuteRequest,
    signal: AbortSignal,
  ): Promise<Execution & { state: 'finished' }> {
    signal.throwIfAborted();
    const sandbox = await this.#arrive(epoch);
    const known = sandbox.journal.get(request.executionId);
    if (known?.state === 'finished') return known;
    const call = sandbox.running.get(request.executionId) ?? this.#start(sandbox, epoch, request);
    const lost = sandbox.died.then(() => {
      throw new HandError('lost', 'the sandbox died');
    });
    const finished = await Promise.race([call.finished, lost, aborted(signal)]);
    await this.#options.pause('travel');
    signal.throwIfAborted();
    return finished;
  }

  async look(epoch: Epoch, executionId: EventId): Promise<Execution> {
    const sandbox = await this.#arrive(epoch);
    return sandbox.journal.get(executionId) ?? { state: 'unknown' };
  }

  async cancel(epoch: Epoch, executionId: EventId): Promise<void> {
    const sandbox = await this.#arrive(epoch);
    const cancelled = { isError: true, text: 'cancelled' };
    const running = sandbox.running.get(executionId);
    if (running) running.finish(cancelled);
    else if (!sandbox.journal.has(executionId)) sandbox.journal.set(executionId, finishedAs(cancelled));
  }

  async #arrive(epoch: Epoch): Promise<Sandbox> {
    await this.#options.pause('travel');
    if (this.#options.isUnreachable?.()) throw new HandError('unreachable', 'no answer');
    const sandbox = this.#reach();
    if (epoch < sandbox.epoch) throw new HandError('fenced', `epoch ${epoch} is over`);
    sandbox.epoch = epoch;
    return sandbox;
  }

  #start(sandbox: Sandbox, epoch: Epoch, request: ExecuteRequest): RunningCall {
    const { executionId } = request;
    const { promise, resolve } = Promise.withResolvers<Execution & { state: 'finished' }>();
    const call: RunningCall = {
      finished: promise,
      finish: (end) => {
        if (!sandbox.isAlive || sandbox.journal.get(executionId)?.state === 'finished') return;
        const finished = finishedAs(end);
        sandbox.journal.set(executionId, finished);
        sandbox.running.delete(executionId);
        resolve(finished);
      },
    };
    sandbox.journal.set(executionId, { state: 'running' });
    sandbox.running.set(executionId, call);
    this.#onStart({ ref: this.ref, livesSince: sandbox.livesSince, epoch, executionId });
    const end = this.#options.run(request, sandbox.files);
    if (end !== 'hangs') void this.#options.pause('run').then(() => call.finish(end));
    return call;
  }
}

function newSandbox(ref: HandRef, files: Map<string, string>, livesSince: number): Sandbox {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sandbox: Sandbox = {
    ref,
    livesSince,
    isAlive: true,
    died: promise,
    die: () => {
      sandbox.isAlive = false;
      sandbox.running.clear();
      resolve();
    },
    epoch: 0,
    journal: new Map(),
    running: new Map(),
    files,
  };
  return sandbox;
}

function finishedAs({ isError, text }: { isError: boolean; text: string }): Execution & { state: 'finished' } {
  const content: ToolResultContent[] = [{ type: 'text', text }];
  return { state: 'finished', isError, content };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

function nameOf({ sessionId, hand, generation }: HandRef): string {
  return `${sessionId}/${hand}/${generation}`;
}

function addressOf(ref: HandRef): HandAddress {
  return { kind: 'unix', socketPath: nameOf(ref) };
}
