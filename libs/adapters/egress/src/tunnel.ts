import type { Socket } from 'node:net';

/**
 * Passes bytes both ways until both directions have ended, one side broke, or nothing moved for `idleTimeoutMs`. One side
 * may end its direction and go on receiving.
 */
export function tunnel(client: Socket, upstream: Socket, idleTimeoutMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let open = 2;
  for (const [side, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    side.setTimeout(idleTimeoutMs, () => side.destroy());
    side.on('error', () => other.destroy());
    side.once('close', () => {
      if (!side.readableEnded) other.destroy();
      if (--open === 0) resolve();
    });
    side.pipe(other);
  }
  return promise;
}
