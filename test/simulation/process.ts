/**
 * A process of the simulated world: everything in it waits at its gate. A dead process passes no gate any more, so that
 * what it was about to do never happens; a stopped one passes none until it is continued, and then goes on as if nothing
 * had been (a zombie).
 */
import type { Clock } from '@manyhands/ports';
import type { Instant } from '@manyhands/protocol';
import type { Chance } from './chance.ts';
import type { Scheduler } from './scheduler.ts';

/** When every run begins. */
export const startOfTime = 1_800_000_000_000;

export type ProcessState = 'running' | 'stopped' | 'dead';

export class SimProcess {
  readonly name: string;
  readonly died: Promise<void>;
  readonly clock: Clock;
  /** How much slower this process is than others; a replica that is behind. */
  slowness = 1;
  #state: ProcessState = 'running';
  #tellDeath: () => void = () => undefined;
  readonly #parked: (() => void)[] = [];
  readonly #scheduler: Scheduler;
  readonly #chance: Chance;
  /** Called before each wait at the gate: where a fault may strike. */
  readonly #onGate: (process: SimProcess) => void;

  constructor(
    name: string,
    scheduler: Scheduler,
    chance: Chance,
    onGate: (process: SimProcess) => void = () => undefined,
  ) {
    this.name = name;
    this.#onGate = onGate;
    this.#scheduler = scheduler;
    this.#chance = chance;
    this.died = new Promise((resolve) => (this.#tellDeath = resolve));
    this.clock = new ProcessClock(this, scheduler, chance.fork());
  }

  get state(): ProcessState {
    return this.#state;
  }

  get isAlive(): boolean {
    return this.#state !== 'dead';
  }

  /** Waits for a while that chance draws: mostly none, sometimes long. */
  gate(): Promise<void> {
    if (this.#state === 'running') this.#onGate(this);
    return this.#wait(this.#latency());
  }

  /** Waits for `ms` and then until the process runs. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return this.#wait(ms, signal);
  }

  kill(): void {
    this.#state = 'dead';
    this.#parked.length = 0;
    this.#tellDeath();
  }

  stop(): void {
    if (this.#state === 'running') this.#state = 'stopped';
  }

  continue(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'running';
    for (const go of this.#parked.splice(0)) this.#scheduler.after(0, () => this.#pass(go));
  }

  #latency(): number {
    const kind = this.#chance.number();
    const ms = kind < 0.7 ? 0 : kind < 0.97 ? this.#chance.between(1, 5) : this.#chance.between(5, 150);
    return ms * this.slowness;
  }

  #wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        signal?.removeEventListener('abort', aborted);
        resolve();
      };
      const cancel = this.#scheduler.after(ms, () => this.#pass(go));
      const aborted = (): void => {
        cancel();
        this.#pass(go);
      };
      signal?.addEventListener('abort', aborted, { once: true });
    });
  }

  #pass(go: () => void): void {
    if (this.#state === 'running') go();
    else if (this.#state === 'stopped') this.#parked.push(go);
  }
}

/** Clocks of processes stand a little apart, as those of machines do. */
class ProcessClock implements Clock {
  readonly #process: SimProcess;
  readonly #scheduler: Scheduler;
  readonly #chance: Chance;
  readonly #skewMs: number;

  constructor(process: SimProcess, scheduler: Scheduler, chance: Chance) {
    this.#process = process;
    this.#scheduler = scheduler;
    this.#chance = chance;
    this.#skewMs = chance.between(-40, 40);
  }

  now(): Instant {
    return Math.floor(startOfTime + this.#scheduler.now + this.#skewMs) as Instant;
  }

  monotonicMs(): number {
    return this.#scheduler.now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#process.sleep(ms, signal);
  }

  randomBytes(length: number): Uint8Array {
    return this.#chance.bytes(length);
  }

  random(): number {
    return this.#chance.number();
  }
}
