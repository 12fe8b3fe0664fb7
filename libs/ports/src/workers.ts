import type { Incarnation } from '@manyhands/protocol';

/**
 * Which harness workers live.
 *
 * - `self` is this process's incarnation, new at every start.
 * - `isDead` is true only when that incarnation can do nothing more, or when being wrong costs no more than one model
 *   request (H2). An incarnation nobody heard of for long is dead.
 * - `live` includes `self`, in a stable order.
 * - `onDeath` calls back for every death from now on; it returns the way to unsubscribe.
 */
export interface Workers {
  readonly self: Incarnation;
  live(): readonly Incarnation[];
  isDead(incarnation: Incarnation): boolean;
  onDeath(listener: (incarnation: Incarnation) => void): () => void;
}
