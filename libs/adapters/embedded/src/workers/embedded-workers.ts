import { randomBytes } from 'node:crypto';
import type { Workers } from '@manyhands/ports';
import { formatId } from '@manyhands/protocol';
import type { Incarnation } from '@manyhands/protocol';

/**
 * The only worker. Its process holds the lock of the data directory, which proves every other incarnation dead at
 * once: there are no heartbeats, and no death is ever seen to happen.
 */
export class EmbeddedWorkers implements Workers {
  readonly self: Incarnation;

  constructor(self: Incarnation = formatId('incarnation', randomBytes(16))) {
    this.self = self;
  }

  live(): readonly Incarnation[] {
    return [this.self];
  }

  isDead(incarnation: Incarnation): boolean {
    return incarnation !== this.self;
  }

  onDeath(): () => void {
    return () => {};
  }
}
