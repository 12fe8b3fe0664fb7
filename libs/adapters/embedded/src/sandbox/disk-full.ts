import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whether nothing can be written to a directory for want of space. What a probe says is no proof: the kernel answers "no
 * space left on device" also to whoever may not make another namespace.
 */
export function isDiskFull(directory: string): boolean {
  const file = join(directory, '.probe-space');
  try {
    writeFileSync(file, new Uint8Array(64 * 1024), { mode: 0o600 });
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
  } finally {
    rmSync(file, { force: true });
  }
}
