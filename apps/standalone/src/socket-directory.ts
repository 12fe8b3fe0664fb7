/** A directory whose sockets have paths that the kernel takes, however deep the data directory is. */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Sockets take 107 bytes; names below the directory take 20 of them. */
const longestDirectoryBytes = 80;

/**
 * `<dataDirectory>/<name>`, or, where that is too long, a directory below the system's temporary one, named for the data
 * directory so that a restart finds it again. Throws when somebody else owns that name.
 */
export function socketDirectory(dataDirectory: string, name: string): string {
  const inside = path.join(dataDirectory, name);
  if (Buffer.byteLength(inside) <= longestDirectoryBytes) return inside;
  const hash = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 16);
  const short = path.join(tmpdir(), `manyhands-${hash}-${name}`);
  mkdirSync(short, { recursive: true, mode: 0o700 });
  const found = lstatSync(short);
  const isOurs = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  if (!isOurs) throw new Error(`${short} belongs to somebody else; move the data directory to a shorter path.`);
  return short;
}
