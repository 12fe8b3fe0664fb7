/**
 * Connectable names for sockets in directories of any depth. The kernel takes 107 bytes, data directories can be deeper.
 * Such a socket is reached through an open descriptor of its directory; nothing has to be made, found again or cleaned up.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, dirname } from 'node:path';

const maxPathBytes = process.platform === 'linux' ? 107 : 103;

export class SocketPaths {
  readonly #directories = new Map<string, number>();

  /** Good in this process, until `forget`. */
  shorten(path: string): string {
    if (Buffer.byteLength(path) <= maxPathBytes) return path;
    const directory = dirname(path);
    const open = this.#directories.get(directory) ?? openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    this.#directories.set(directory, open);
    return `/proc/self/fd/${open}/${basename(path)}`;
  }

  forget(path: string): void {
    const directory = dirname(path);
    const open = this.#directories.get(directory);
    if (open !== undefined) closeSync(open);
    this.#directories.delete(directory);
  }
}

/** Whether somebody listens there. */
export function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // EAGAIN: so many wait already that this one may not, which takes a listener.
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EAGAIN'));
  });
}
