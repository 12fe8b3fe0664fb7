/**
 * Who commands run as.
 *
 * - A server of an ordinary user puts them into a user namespace, where they are nobody else than that user.
 * - A server of root may not: a user namespace that shows another number is still root to everything that asks for the
 *   owner of a file, `/proc/sys` with its core pattern included. There commands run as a user that owns nothing else, one
 *   for each session, so that sessions are kept apart by the file system too.
 */
import { createHash } from 'node:crypto';
import { chownSync, readFileSync } from 'node:fs';
import type { SessionId } from '@manyhands/protocol';

export type SandboxUser = { kind: 'namespaced' } | { kind: 'own'; uid: number };

/** What a namespaced user looks like from inside. */
export const insideId = 1000;

/** Far above what systems give to people, services and containers. */
const firstUid = 0x4000_0000;
const uidCount = 0x1000_0000;
const nobody = 65_534;

export function userOf(sessionId: SessionId): SandboxUser {
  if (process.geteuid?.() !== 0) return { kind: 'namespaced' };
  const hash = createHash('sha256').update(sessionId).digest().readUInt32BE();
  return { kind: 'own', uid: hasAllUids() ? firstUid + (hash % uidCount) : nobody };
}

export function giveTo(user: SandboxUser, paths: string[]): void {
  if (user.kind === 'own') for (const path of paths) chownSync(path, user.uid, user.uid);
}

/** Whether this process sees every user there is, and not just those of a container. */
function hasAllUids(): boolean {
  const [inside, outside, count] = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/).map(Number);
  return inside === 0 && outside === 0 && (count ?? 0) >= firstUid + uidCount;
}
