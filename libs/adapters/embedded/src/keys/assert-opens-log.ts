import { KeyServiceError } from '@manyhands/ports';
import type { KeyService, TopicMessage } from '@manyhands/ports';
import { topics } from '@manyhands/protocol';
import type { Offset } from '@manyhands/protocol';
import type { InspectedLog } from '../topic/inspected-log.ts';

const readBytes = 64 * 1024;

/**
 * Throws when this key-encryption key did not wrap the data keys of this log: what is written under another key could
 * not be read with the right one. One key that opens is enough, for all were wrapped by the same; in a log that holds
 * none, nothing can be said and nothing can be lost.
 */
export function assertOpensLog(service: KeyService, log: InspectedLog): void {
  const wrapped = aWrappedKey(log);
  if (!wrapped?.value) return;
  try {
    service.unwrap(wrapped.value, wrapped.key);
  } catch (cause) {
    throw new KeyServiceError(
      'The key-encryption key does not open the data keys in the log: one of the two is of another data directory.',
      { cause },
    );
  }
}

function aWrappedKey(log: InspectedLog): TopicMessage | null {
  for (let partition = 0; partition < log.partitionsOf(topics.keys); partition++) {
    const at = { topic: topics.keys, partition };
    let offset = 0 as Offset;
    for (;;) {
      const messages = log.read({ ...at, offset }, readBytes);
      const found = messages.find(({ value }) => value !== null);
      if (found) return found;
      const last = messages.at(-1);
      if (!last) break;
      offset = (last.offset + 1) as Offset;
    }
  }
  return null;
}
