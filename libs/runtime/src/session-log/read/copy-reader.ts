/** Answers read requests from one connection to the copy, in whatever thread it stands. */
import type { DatabaseSync } from 'node:sqlite';
import { openBytes } from '../seal.ts';
import { EventReader } from './event-reader.ts';
import { eventsPage } from './events-page.ts';
import type { AnswerOf, ReadRequest, Reads } from './read-request.ts';
import { RecordReader } from './record-reader.ts';

export class CopyReader {
  readonly #db: DatabaseSync;
  readonly #records: RecordReader;
  readonly #events: EventReader;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#records = new RecordReader(db);
    this.#events = new EventReader(db, this.#records);
  }

  answer(request: ReadRequest): AnswerOf[keyof AnswerOf] {
    switch (request.kind) {
      case 'records':
        return this.#records.records(request);
      case 'pick':
        return this.#records.pick(request);
      case 'events':
        return this.#events.events(request);
      case 'page':
        return eventsPage(request, this.#events.events(request));
      case 'open':
        return JSON.parse(openBytes(request.sealed, request.key, request.context).toString('utf8')) as unknown;
    }
  }

  /** One state of the copy for everything a request reads. */
  answerAtOnce(request: ReadRequest): AnswerOf[keyof AnswerOf] {
    this.#db.exec('BEGIN');
    try {
      return this.answer(request);
    } finally {
      this.#db.exec('COMMIT');
    }
  }
}

/** Reads on the caller's own thread and connection: for copies in memory, and for what is too small to send elsewhere. */
export class InlineReads implements Reads {
  readonly #reader: CopyReader;

  constructor(db: DatabaseSync) {
    this.#reader = new CopyReader(db);
  }

  async read<R extends ReadRequest>(request: R): Promise<AnswerOf[R['kind']]> {
    return this.readNow(request);
  }

  readNow<R extends ReadRequest>(request: R): AnswerOf[R['kind']] {
    return this.#reader.answer(request) as AnswerOf[R['kind']];
  }

  async close(): Promise<void> {}
}
