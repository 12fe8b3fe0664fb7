/** The mark by which L7 knows a message again: the commit id, or a hash where it is no commit. */
import { createHash } from 'node:crypto';
import type { TopicMessage } from '@manyhands/ports';
import { decodeCommit } from '@manyhands/protocol';

export function markOf(message: TopicMessage): string {
  const commit = message.value ? decodeCommit(message.value) : null;
  return commit?.commitId ?? hashOf(message.value);
}

export function hashOf(value: Uint8Array | null): string {
  return `#${createHash('sha256')
    .update(value ?? '')
    .digest('base64url')}`;
}
