import type { BuiltinToolName, Epoch, EventId, SessionId, ToolResultContent } from '@manyhands/protocol';

/** Names one life of one hand of a session. */
export interface HandRef {
  sessionId: SessionId;
  /** `main` unless a session has several. */
  hand: string;
  /** Rises with every new sandbox. */
  generation: number;
}

/** Where a hand's daemon listens. */
export type HandAddress = { kind: 'unix'; socketPath: string } | { kind: 'http'; url: string };

/** What a call looks like from outside. `unknown`: the journal has no such execution. */
export type Execution =
  { state: 'unknown' } | { state: 'running' } | { state: 'finished'; isError: boolean; content: ToolResultContent[] };

export interface ExecuteRequest {
  /** The tool-use event's id (E6): the same id again joins the execution instead of starting another. */
  executionId: EventId;
  name: BuiltinToolName;
  input: Record<string, unknown>;
}

/**
 * A hand's daemon, spoken to with the epoch of the caller's lease.
 *
 * - `fence` tells the daemon the epoch before anything else; a lower one is refused for ever after (H2). It gives the ids
 *   of the executions that run there at that moment.
 * - `execute` starts the call, or joins the one with the same id, and resolves with its result. Its signal ends the
 *   waiting, not the execution.
 * - `look` asks the journal without starting anything.
 * - `cancel` ends the execution's processes; its result is then an error. Unknown ids are no error. An id cancelled
 *   before it was started is never started.
 * - All throw `HandError`: `'lost'` when the hand is dead, or what answers is no hand (its journal can still be asked
 *   through `SandboxProvider`), `'fenced'` when a later epoch was here, `'unreachable'` when there was no answer.
 * - A command in the sandbox can answer in the daemon's place: results are checked for form and size, and not for honesty.
 *   `'fenced'` is a claim that only the log can prove.
 */
export interface Hand {
  readonly ref: HandRef;
  fence(epoch: Epoch): Promise<EventId[]>;
  execute(epoch: Epoch, request: ExecuteRequest, signal: AbortSignal): Promise<Execution & { state: 'finished' }>;
  look(epoch: Epoch, executionId: EventId): Promise<Execution>;
  cancel(epoch: Epoch, executionId: EventId): Promise<void>;
}

export type HandErrorCode = 'lost' | 'fenced' | 'unreachable' | 'refused';

export class HandError extends Error {
  readonly code: HandErrorCode;
  /** Nothing of the request has left the caller: a proof that the sandbox has no part in. */
  readonly neverSent: boolean;
  constructor(code: HandErrorCode, message: string, options?: { cause?: unknown; neverSent?: boolean }) {
    super(message, options);
    this.name = 'HandError';
    this.code = code;
    this.neverSent = options?.neverSent ?? false;
  }
}

/** Opens the client of a daemon. */
export interface HandConnector {
  connect(ref: HandRef, address: HandAddress): Hand;
}
