/**
 * L7 before anything is opened for writing: whether a log can be the one that the copy beside it was folded from. A log
 * that lost its newest part looks whole to itself, and what is written to it then would stand where something else stood.
 */
import type { TopicMessage, TopicPartition, TopicPosition } from '@manyhands/ports';
import type { Offset, TopicName } from '@manyhands/protocol';
import { readCopyMarks } from '../copy/copy-marks.ts';
import type { PositionRow } from '../copy/position-rows.ts';
import { markOf } from './mark.ts';

export interface LogBeforeOpening {
  readonly identity: string | null;
  partitionsOf(topic: TopicName): number;
  end(of: TopicPartition): Offset;
  read(from: TopicPosition, maxBytes: number): TopicMessage[];
}

/** Why the log must not be opened; null when nothing speaks against it. A copy of another log is no reason. */
export function problemOfLog(log: LogBeforeOpening, copyPath: string): string | null {
  const marks = readCopyMarks(copyPath);
  if (!marks || marks.positions.length === 0) return null;
  if (marks.log === log.identity) return firstOf(marks.positions, (row) => problemAt(row, log));
  const isEmpty = marks.positions.every((row) => row.partition >= log.partitionsOf(row.topic) || log.end(row) === 0);
  return isEmpty ? `The log is empty, and ${copyPath} was folded from one that was not.` : null;
}

function problemAt({ topic, partition, lastOffset, lastMark }: PositionRow, log: LogBeforeOpening): string | null {
  const end = log.end({ topic, partition });
  if (lastOffset >= end)
    return `The log lost its newest part: ${topic}/${partition} ends at ${end}, and message ${lastOffset} was there before.`;
  const [message] = log.read({ topic, partition, offset: lastOffset }, 1);
  if (message && markOf(message) === lastMark) return null;
  return `The log was changed: message ${lastOffset} of ${topic}/${partition} is not the one that was there before.`;
}

function firstOf<T>(rows: readonly T[], problem: (row: T) => string | null): string | null {
  for (const row of rows) {
    const found = problem(row);
    if (found !== null) return found;
  }
  return null;
}
