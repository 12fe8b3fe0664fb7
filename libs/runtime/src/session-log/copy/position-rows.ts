/** How far each partition is folded, and which message was the last (L7). */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Offset, TopicName } from '@manyhands/protocol';

export interface PositionRow {
  topic: TopicName;
  partition: number;
  nextOffset: Offset;
  lastOffset: Offset;
  /** The commit id of the last message, or a hash where it was no commit. */
  lastMark: string;
}

export class PositionRows {
  readonly #all: StatementSync;
  readonly #save: StatementSync;

  constructor(db: DatabaseSync) {
    this.#all = db.prepare(`SELECT topic, partition, next_offset AS nextOffset, last_offset AS lastOffset,
      last_mark AS lastMark FROM positions`);
    this.#save = db.prepare(`INSERT OR REPLACE INTO positions (topic, partition, next_offset, last_offset, last_mark)
      VALUES (?, ?, ?, ?, ?)`);
  }

  all(): PositionRow[] {
    return this.#all.all() as unknown as PositionRow[];
  }

  save(row: PositionRow): void {
    this.#save.run(row.topic, row.partition, row.nextOffset, row.lastOffset, row.lastMark);
  }
}
