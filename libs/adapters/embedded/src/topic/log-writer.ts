/**
 * The only writer of the log's file.
 *
 * - One batch is one transaction, and one fsync.
 * - After any failure the file is opened anew before it is used again: only what SQLite finds there then is believed,
 *   and a transaction whose commit failed may or may not be among it.
 * - A value that was erased is in no file when the append returns: the write-ahead log, where older copies of its page
 *   may lie, is moved into the database and cut to nothing.
 */
import type { DatabaseSync } from 'node:sqlite';
import { openLogForWriting, reopenLogForWriting } from './log-database.ts';
import type { LogDatabase } from './log-database.ts';
import { LogFailure, logFailure } from './log-failure.ts';
import type { LogLayout } from './log-layout.ts';
import { stamp, unpack } from './packed-messages.ts';
import type { PackedMessages } from './packed-messages.ts';
import type { PartitionTable } from './partition-table.ts';

export class LogWriter {
  readonly #file: string;
  readonly #reopen: () => LogDatabase;
  readonly #now: () => number;
  #log: LogDatabase | null = null;
  #ends: number[] = [];
  #lastAppend = 0;

  constructor(
    file: string,
    layout: LogLayout,
    {
      now = Date.now,
      open = () => openLogForWriting(file, layout),
      reopen = () => reopenLogForWriting(file, layout),
    }: { now?: () => number; open?: () => LogDatabase; reopen?: () => LogDatabase } = {},
  ) {
    this.#file = file;
    this.#reopen = reopen;
    this.#now = now;
    this.#recover(open);
    this.#finishErasing(this.#opened());
  }

  /** Which log this is, and where its partitions end. */
  found(): { identity: string; ends: number[] } {
    return { identity: this.#opened().identity, ends: [...this.#ends] };
  }

  /** The offset after the newest message of each partition; null while the file cannot be opened. */
  ends(): number[] | null {
    try {
      this.#opened();
      return [...this.#ends];
    } catch {
      return null; // Told again by the next append, which needs the file.
    }
  }

  /** Makes a batch durable and writes offsets and time into it. Throws `LogFailure`. */
  append(batch: PackedMessages): PackedMessages {
    const log = this.#opened();
    // Topics keep the time of the append, which never runs backwards (L8).
    this.#lastAppend = Math.max(this.#lastAppend, this.#now());
    try {
      this.#commit(log, batch, this.#lastAppend);
    } catch (error) {
      this.close();
      throw logFailure(error, this.#file);
    }
    return batch;
  }

  close(): void {
    const database = this.#log?.database;
    this.#log = null;
    try {
      database?.close();
    } catch {
      // Closing tidies up only: what was acknowledged is in the write-ahead log, which the next opening reads.
    }
  }

  #opened(): LogDatabase {
    return this.#log ?? this.#recover(this.#reopen);
  }

  #recover(open: () => LogDatabase): LogDatabase {
    const log = open();
    try {
      const newest = log.tables.map((table) => table.newest());
      this.#ends = newest.map((message) => (message ? message.offset + 1 : 0));
      this.#lastAppend = Math.max(this.#lastAppend, ...newest.map((message) => message?.appendedAt ?? 0));
    } catch (error) {
      log.database.close();
      throw logFailure(error, this.#file);
    }
    return (this.#log = log);
  }

  #commit({ database, tables }: LogDatabase, batch: PackedMessages, appendedAt: number): void {
    const ends = [...this.#ends];
    let erases = false;
    database.exec('BEGIN IMMEDIATE');
    unpack(batch).forEach((message, index) => {
      const offset = ends[message.partition] as number;
      const table = tables[message.partition] as PartitionTable;
      erases = table.append({ ...message, offset, appendedAt }) || erases;
      stamp(batch, index, offset, appendedAt);
      ends[message.partition] = offset + 1;
    });
    try {
      database.exec('COMMIT');
    } catch (error) {
      throw logFailure(error, this.#file, 'unknown-outcome');
    }
    this.#ends = ends;
    if (erases) this.#emptyWriteAheadLog(database);
  }

  /** A process that died after an erasing commit left older copies in the write-ahead log. */
  #finishErasing(log: LogDatabase): void {
    try {
      this.#emptyWriteAheadLog(log.database);
    } catch (error) {
      if (error instanceof LogFailure && error.code === 'damaged') throw error;
      // A full disk must not keep the log from being read. Nobody was told that the erasure is done, so it is repeated.
    }
  }

  #emptyWriteAheadLog(database: DatabaseSync): void {
    let busy: unknown;
    try {
      busy = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'];
    } catch (error) {
      throw logFailure(error, this.#file, 'unknown-outcome');
    }
    if (busy !== 0)
      throw new LogFailure('unknown-outcome', `The log ${this.#file} is being read and cannot erase yet.`);
  }
}
