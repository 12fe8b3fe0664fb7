import { existsSync } from 'node:fs';
import { TopicError } from '@manyhands/ports';
import type { TopicMessage, TopicPartition, TopicPosition } from '@manyhands/ports';
import type { Instant, Offset, TopicName } from '@manyhands/protocol';
import { LogFailure } from './log-failure.ts';
import { LogLook } from './log-look.ts';
import type { PartitionIndex } from './partition-index.ts';

/** A log before it is opened: nothing has been written to it yet, and it can still be left as it is. */
export interface InspectedLog {
  /** Tells it from every other log; null in one that was made before logs had one. */
  readonly identity: string | null;
  partitionsOf(topic: TopicName): number;
  /** The offset after the last message. */
  end(of: TopicPartition): Offset;
  /** As of `Topic`; `[]` also beyond the end. */
  read(from: TopicPosition, maxBytes: number): TopicMessage[];
}

/** Shows the log to who wants to see it. Throws `TopicError` when it is damaged, or is missing and may not be made. */
export function inspectLog(
  file: string,
  index: PartitionIndex,
  mayCreate: boolean,
  inspect: (log: InspectedLog) => void,
): void {
  if (!existsSync(file)) {
    if (mayCreate) return;
    throw new TopicError('damaged', `The log ${file} is missing, and what was made beside it is there.`);
  }
  try {
    const look = new LogLook(file, index.layout);
    try {
      inspect(inspected(look, index));
    } finally {
      look.close();
    }
  } catch (error) {
    throw error instanceof LogFailure ? new TopicError(error.code, error.message, { cause: error }) : error;
  }
}

function inspected(look: LogLook, index: PartitionIndex): InspectedLog {
  return {
    identity: look.identity,
    partitionsOf: (topic) => index.partitionsOf(topic),
    end: (of) => look.end(index.numberOf(of)) as Offset,
    read: ({ topic, partition, offset }, maxBytes) =>
      look.read(index.numberOf({ topic, partition }), offset, maxBytes).map((message) => ({
        topic,
        partition,
        offset: message.offset as Offset,
        key: message.key,
        value: message.value,
        appendedAt: message.appendedAt as Instant,
      })),
  };
}
