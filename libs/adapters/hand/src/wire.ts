/**
 * What client and daemon of a hand say to each other over HTTP.
 *
 * | request | does |
 * | -- | -- |
 * | `PUT /executions/{id}?wait_ms=` | starts the call or joins it, and waits for its end that long |
 * | `GET /executions/{id}?wait_ms=` | looks, and waits likewise; 404 for an id that was never started |
 * | `DELETE /executions/{id}` | cancels, and answers when nothing of it runs any more |
 * | `GET /executions` | only raises the fence, and lists what is known |
 * | `GET /healthz` | answers without a grant |
 *
 * Every other request carries `authorization: Bearer <grant>`: 401 without a good one, 409 behind the fence.
 */
import type { Execution } from '@manyhands/ports';

export interface ExecutionBody {
  name: string;
  input: Record<string, unknown>;
  /** An upper bound on the whole call, whatever the tool's own limit is. */
  timeoutMs?: number;
}

/** `output`: what a running command has written so far, or its end where that is long. */
export type ExecutionAnswer = Execution | { state: 'running'; output: string };

export interface ExecutionList {
  epoch: number;
  executions: { id: string; state: 'running' | 'finished' }[];
}

export interface ErrorAnswer {
  error: 'unauthorized' | 'fenced' | 'unknown' | 'invalid';
  message: string;
}

/** The longest that the daemon keeps a request waiting. */
export const maxWaitMs = 30_000;
/** A `write` carries its whole file. */
export const maxBodyBytes = 64 * 1024 * 1024;
/** An image that a model takes has 5 MB, and no other result comes near it. */
export const maxAnswerBytes = 16 * 1024 * 1024;
