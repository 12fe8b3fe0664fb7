/**
 * Reads the log of a server that is not running, through a copy in memory: what it says does not depend on the server's
 * own copy, and shows the records that the public API does not.
 */
import path from 'node:path';
import { DirectoryBlobStore } from '@manyhands/adapter-blob';
import { DataDirectoryLock, EmbeddedTopic, FileKeyService, SystemClock } from '@manyhands/adapter-embedded';
import type { Logger } from '@manyhands/ports';
import { sessionStream, topics, type LogRecord, type SessionId, type TopicName } from '@manyhands/protocol';
import { SessionLogService } from '@manyhands/runtime';

/** The log's identity in a standalone server; a log of another one is refused when it is opened. */
export const partitions: Record<TopicName, number> = {
  [topics.sessions]: 4,
  [topics.resources]: 1,
  [topics.keys]: 1,
  [topics.wakes]: 1,
  [topics.workers]: 1,
};

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

export class LogAudit {
  readonly log: SessionLogService;
  readonly #topic: EmbeddedTopic;
  readonly #lock: DataDirectoryLock;

  private constructor(log: SessionLogService, topic: EmbeddedTopic, lock: DataDirectoryLock) {
    this.log = log;
    this.#topic = topic;
    this.#lock = lock;
  }

  static async open(dataDirectory: string): Promise<LogAudit> {
    const inside = (name: string): string => path.join(dataDirectory, name);
    const lock = DataDirectoryLock.acquire(dataDirectory);
    const topic = await EmbeddedTopic.open({ file: inside('log.db'), partitions });
    const log = new SessionLogService({
      topic,
      blobs: await DirectoryBlobStore.open(inside('blobs')),
      keys: FileKeyService.open(inside('key-encryption.key'), { mayCreate: false }),
      clock: new SystemClock(),
      logger: silentLogger,
      copyPath: ':memory:',
      keysPath: ':memory:',
      readerThreads: 0,
      defaultEffort: () => 'high',
      // A deletion that has begun is the server's to finish.
      eraseElsewhere: () => Promise.reject(new Error('an audit removes nothing')),
    });
    await log.start();
    return new LogAudit(log, topic, lock);
  }

  async close(): Promise<void> {
    await this.log.stop();
    await this.#topic.close();
    this.#lock.release();
  }

  async records(sessionId: string): Promise<LogRecord[]> {
    const all: LogRecord[] = [];
    for (;;) {
      const after = all.at(-1)?.seq;
      const page = await this.log.getEvents(
        sessionStream(sessionId as SessionId),
        after === undefined ? {} : { after },
      );
      all.push(...page.records);
      if (page.complete) return all;
    }
  }

  async state(sessionId: string) {
    const state = await this.log.getState(sessionId as SessionId);
    if (!state) throw new Error(`the log has no session ${sessionId}`);
    return state;
  }
}

/** What a holder alone may write. */
const holderKinds = /^(lease\.released|model\.|span\.|agent\.(?!tool_result)|input\.|hand\.)/;

/** What must hold for the records of any session: seqs without gaps (L5), times in order (L8), and who wrote what. */
export function recordFaults(records: readonly LogRecord[]): string[] {
  let time = 0;
  let held = false;
  return records.flatMap((record, index) => {
    const faults: string[] = [];
    const at = `${record.kind} at ${record.seq}`;
    if (record.seq !== index + 1) faults.push(`${at} is number ${index + 1}`);
    if (record.time < time) faults.push(`${at} is older than the record before it`);
    time = record.time;
    if (record.kind === 'lease.taken') held = true;
    else if (!held && holderKinds.test(record.kind)) faults.push(`${at} was written without a lease`);
    if (record.kind === 'lease.released') held = false;
    return faults;
  });
}
