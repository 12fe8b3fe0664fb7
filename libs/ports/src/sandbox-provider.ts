import type { EventId, EnvironmentSettings, SessionId } from '@manyhands/protocol';
import type { Execution, HandAddress, HandRef } from './hand.ts';

export interface SandboxSpec {
  ref: HandRef;
  environment: EnvironmentSettings;
}

export type SandboxStatus = { state: 'running'; address: HandAddress } | { state: 'gone' };

/**
 * Makes, finds and removes sandboxes.
 *
 * - `provision` is idempotent by `ref`: again while it runs gives the same address; after its death it is `'gone'`,
 *   never silently a new sandbox under the same generation. A new generation finds the workspace of the one before.
 * - `find` says whether that generation still lives, and never starts anything.
 * - `end` ends that generation for good, also one that does not answer; its workspace and its journal stay. Resolves when
 *   nothing of it runs any more.
 * - `journal` reads what a dead hand wrote down about an execution; `running` when it was started and nobody knows how it
 *   ended. The sandbox can write there too: `unknown` says that nothing is found, not that it was never started.
 * - `destroy` removes sandbox, workspace and journal of all generations of a session; resolves also when there is none.
 * - `list` names the sessions that have anything here, for the sweep of orphans (S4).
 */
export interface SandboxProvider {
  provision(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxStatus & { state: 'running' }>;
  find(ref: HandRef): Promise<SandboxStatus>;
  end(ref: HandRef): Promise<void>;
  journal(ref: HandRef, executionId: EventId): Promise<Execution>;
  destroy(sessionId: SessionId): Promise<void>;
  list(): Promise<SessionId[]>;
}

export class SandboxError extends Error {
  readonly code: 'unavailable' | 'gone' | 'no-isolation' | 'failed';
  readonly retriable: boolean;
  constructor(code: SandboxError['code'], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'SandboxError';
    this.code = code;
    this.retriable = code === 'unavailable';
  }
}
