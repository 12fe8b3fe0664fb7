/**
 * S4. No orphan survives: what a provider has for sessions that are archived, deleted or unknown is removed, at the start
 * and then once in a while. Archive and delete need no other step, and may be killed at any point.
 */
import type { Clock, Logger, SandboxProvider, SessionLog } from '@manyhands/ports';
import type { SessionId } from '@manyhands/protocol';

export interface HandSweepDeps {
  provider: SandboxProvider;
  log: Pick<SessionLog, 'getState'>;
  clock: Clock;
  logger: Logger;
  /** Called before a session's hand is removed. */
  release: (sessionId: SessionId) => Promise<void>;
  intervalMs: number;
}

export class HandSweep {
  readonly #deps: HandSweepDeps;
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(deps: HandSweepDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock, logger, intervalMs } = this.#deps;
    while (!this.#stopping.signal.aborted) {
      try {
        for (const sessionId of await this.#deps.provider.list()) await this.#look(sessionId);
      } catch (error) {
        logger.warn({ error: String(error) }, 'a sweep over the sandboxes failed; the next one tries again');
      }
      await clock.sleep(intervalMs, this.#stopping.signal);
    }
  }

  async #look(sessionId: SessionId): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    const state = await this.#deps.log.getState(sessionId);
    if (state && state.phase.status !== 'terminated' && state.deletedAt === null) return;
    await this.#deps.release(sessionId);
    await this.#deps.provider.destroy(sessionId);
  }
}
