/** Reads the log's file beside its writer, on a connection of its own, so that reading never stops appends. */
import { openLogForReading } from './log-database.ts';
import type { LogDatabase } from './log-database.ts';
import { logFailure } from './log-failure.ts';
import type { LogLayout } from './log-layout.ts';
import { pack } from './packed-messages.ts';
import type { PackedMessages } from './packed-messages.ts';
import type { PartitionTable } from './partition-table.ts';

export interface ReadRequest {
  partition: number;
  from: number;
  /** The first offset that is not wanted. */
  upTo: number;
  maxBytes: number;
}

export class LogReader {
  readonly #file: string;
  readonly #log: LogDatabase;

  constructor(file: string, layout: LogLayout) {
    this.#file = file;
    this.#log = openLogForReading(file, layout);
  }

  read({ partition, from, upTo, maxBytes }: ReadRequest): PackedMessages {
    return this.#translated(() => {
      const messages = this.#table(partition).read(from, upTo, maxBytes);
      return pack(messages.map((message) => ({ ...message, partition })));
    });
  }

  startOffset(partition: number): number {
    return this.#translated(() => this.#table(partition).startOffset());
  }

  close(): void {
    this.#log.database.close();
  }

  #table(partition: number): PartitionTable {
    return this.#log.tables[partition] as PartitionTable;
  }

  #translated<T>(use: () => T): T {
    try {
      return use();
    } catch (error) {
      throw logFailure(error, this.#file);
    }
  }
}
