/** Which commands came with an `Idempotency-Key`, and what they wrote. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RememberedCommand } from '@manyhands/core';
import type { IdempotencyMark, Instant, Seq } from '@manyhands/protocol';

export class IdempotencyRows {
  readonly #get: StatementSync;
  readonly #save: StatementSync;
  readonly #clear: StatementSync;

  constructor(db: DatabaseSync) {
    this.#get = db.prepare(`SELECT body, first_seq AS firstSeq, last_seq AS lastSeq, time FROM idempotency
      WHERE stream = ? AND key = ?`);
    this.#save = db.prepare(`INSERT OR REPLACE INTO idempotency (stream, key, body, first_seq, last_seq, time)
      VALUES (?, ?, ?, ?, ?, ?)`);
    this.#clear = db.prepare('DELETE FROM idempotency WHERE stream = ?');
  }

  get(stream: number, key: string): RememberedCommand | null {
    return (this.#get.get(stream, key) as unknown as RememberedCommand | undefined) ?? null;
  }

  save(stream: number, mark: IdempotencyMark, firstSeq: Seq, lastSeq: Seq, time: Instant): void {
    this.#save.run(stream, mark.key, mark.body, firstSeq, lastSeq, time);
  }

  clear(stream: number): void {
    this.#clear.run(stream);
  }
}
