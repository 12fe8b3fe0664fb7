/**
 * A harness worker: claims sessions that want the brain and runs their turns.
 *
 * - H3. Wakes make it fast; the sweep over `runnable` makes it sure: at once on a death, and every second with jitter.
 * - H4. Many wakes of one session give one turn, and a wake that came while it ran is looked at when it is over.
 * - H6. At most one session that took down two workers runs here at a time, until it has brought a result or lived long
 *   enough, so that a crash blames one.
 * - A session whose wakes end by an error is woken again later and later.
 */
import type { RunnableRow } from '@manyhands/ports';
import type { SessionId } from '@manyhands/protocol';
import type { HarnessDeps } from './deps.ts';
import type { Drain, WakeOutcome } from './wake.ts';
import { wake } from './wake.ts';
import { WakeBackOff } from './wake-back-off.ts';

/** A suspect session (H6) that lived this long is no longer suspect, in milliseconds. */
const suspectForMs = 60_000;

interface RunningSession {
  done: Promise<void>;
  startedAtMs: number;
  suspect: boolean;
  /** The wish for the brain that came meanwhile and that nobody holds; looked at when this run is over. */
  next: RunnableRow | null;
}

export class Worker {
  readonly #deps: HarnessDeps;
  readonly #running = new Map<SessionId, RunningSession>();
  readonly #gentle = new AbortController();
  readonly #hard = new AbortController();
  readonly #drain: Drain = { gentle: this.#gentle.signal, hard: this.#hard.signal };
  readonly #backOff: WakeBackOff;
  readonly #unsubscribe: (() => void)[] = [];
  #sweeping: Promise<void> | null = null;
  #sweepAgain = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(deps: HarnessDeps) {
    this.#deps = deps;
    this.#backOff = new WakeBackOff(deps.clock);
  }

  get runningSessions(): number {
    return this.#running.size;
  }

  start(): void {
    this.#unsubscribe.push(
      this.#deps.log.onRunnable((row) => this.#offer(row)),
      this.#deps.workers.onDeath(() => void this.#sweep()),
    );
    this.#loop = this.#sweepForever();
  }

  /** H5. Claims nothing more, lets open model streams finish for `drainMs`, then cuts them. Resolves when all is let go. */
  async drain(drainMs: number): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#gentle.abort();
    const over = new AbortController();
    const limit = this.#deps.clock.sleep(drainMs, over.signal).then(() => this.#hard.abort());
    await this.#loop;
    await Promise.all([...this.#running.values()].map((session) => session.done));
    over.abort();
    await limit;
  }

  async #sweepForever(): Promise<void> {
    const { clock, settings } = this.#deps;
    while (!this.#gentle.signal.aborted) {
      await this.#sweep();
      const jitter = 0.8 + clock.random() * 0.4;
      await clock.sleep(settings.sweepIntervalMs * jitter, this.#gentle.signal);
    }
  }

  /** One at a time; who comes while one runs gets another after it. */
  #sweep(): Promise<void> {
    if (this.#sweeping) {
      this.#sweepAgain = true;
      return this.#sweeping;
    }
    this.#sweeping = this.#sweepUntilQuiet().finally(() => (this.#sweeping = null));
    return this.#sweeping;
  }

  async #sweepUntilQuiet(): Promise<void> {
    do {
      this.#sweepAgain = false;
      try {
        await this.#sweepOnce();
      } catch (error) {
        this.#deps.logger.warn({ error: String(error) }, 'the sweep could not read what is runnable');
      }
    } while (this.#sweepAgain && !this.#gentle.signal.aborted);
  }

  async #sweepOnce(): Promise<void> {
    const { log, clock, settings } = this.#deps;
    if (this.#freeSlots <= 0) return;
    const rows = await log.runnable({ dueAt: clock.now(), limit: settings.maxSessions * 2 });
    for (const row of rows) if (!this.#running.has(row.sessionId)) this.#offer(row);
  }

  get #freeSlots(): number {
    return this.#deps.settings.maxSessions - this.#running.size;
  }

  #offer(row: RunnableRow): void {
    if (this.#gentle.signal.aborted) return;
    const running = this.#running.get(row.sessionId);
    if (running) {
      if (row.holder === null) running.next = row;
      return;
    }
    const { workers, clock } = this.#deps;
    const heldElsewhere = row.holder !== null && row.holder !== workers.self && !workers.isDead(row.holder);
    if (heldElsewhere || this.#freeSlots <= 0) return;
    const waitMs = Math.max(row.notBefore - clock.now(), this.#backOff.remainingMs(row.sessionId));
    if (waitMs > 0) return this.#offerLater(row, waitMs);
    const suspect = row.barrenTakeovers >= 2;
    if (suspect && this.#hasSuspect()) return;
    this.#run(row.sessionId, suspect);
  }

  /** Soon due: no need to wait for the next sweep. */
  #offerLater(row: RunnableRow, waitMs: number): void {
    const { clock, settings } = this.#deps;
    if (waitMs > settings.sweepIntervalMs) return;
    void clock.sleep(waitMs, this.#gentle.signal).then(() => this.#offer(row));
  }

  #hasSuspect(): boolean {
    const now = this.#deps.clock.monotonicMs();
    return [...this.#running.values()].some((session) => session.suspect && now - session.startedAtMs < suspectForMs);
  }

  #run(sessionId: SessionId, suspect: boolean): void {
    const startedAtMs = this.#deps.clock.monotonicMs();
    const session: RunningSession = { done: Promise.resolve(), startedAtMs, suspect, next: null };
    this.#running.set(sessionId, session);
    session.done = this.#wake(sessionId, () => (session.suspect = false)).then(() => {
      this.#running.delete(sessionId);
      if (session.next) this.#offer(session.next);
    });
  }

  async #wake(sessionId: SessionId, onResult: () => void): Promise<void> {
    const { logger } = this.#deps;
    try {
      const outcome: WakeOutcome = await wake(sessionId, this.#deps, this.#drain, onResult);
      this.#backOff.succeeded(sessionId);
      if (outcome.kind === 'abandoned' && outcome.reason !== 'fenced') {
        logger.warn({ sessionId, reason: outcome.reason, error: describe(outcome.error) }, 'a turn was abandoned');
      }
    } catch (error) {
      // A bug, or the log is away: a lease that was taken stays, and the sweep claims the session again (H6 counts it).
      this.#backOff.failed(sessionId);
      logger.error({ sessionId, error: describe(error) }, 'a wake ended with an error');
    }
  }
}

function describe(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return error instanceof Error ? (error.stack ?? error.message) : typeof error;
}
