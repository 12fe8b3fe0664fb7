/** The log of a stopped server's data directory, opened in this process to be filled faster than over HTTP. */
import path from 'node:path';
import { DirectoryBlobStore } from '@manyhands/adapter-blob';
import { DataDirectoryLock, EmbeddedTopic, FileKeyService, SystemClock } from '@manyhands/adapter-embedded';
import { silentLogger } from '@manyhands/ports';
import { formatId, sessionStream, topics, type CreateSession, type SessionId } from '@manyhands/protocol';
import { SessionLogService } from '@manyhands/runtime';
import { concurrently } from './bench-platform.ts';

/** As the standalone server has them; the topic refuses to open with others (L9). */
const partitions = {
  [topics.sessions]: 4,
  [topics.resources]: 1,
  [topics.keys]: 1,
  [topics.wakes]: 1,
  [topics.workers]: 1,
};

export type SessionTemplate = Omit<CreateSession, 'sessionId'>;

export class DataLog {
  readonly service: SessionLogService;
  readonly clock = new SystemClock();
  readonly #close: () => Promise<void>;

  private constructor(service: SessionLogService, close: () => Promise<void>) {
    this.service = service;
    this.#close = close;
  }

  static async open(directory: string): Promise<DataLog> {
    const lock = DataDirectoryLock.acquire(directory);
    const inside = (name: string): string => path.join(directory, name);
    const topic = await EmbeddedTopic.open({ file: inside('log.db'), partitions });
    const service = new SessionLogService({
      topic,
      blobs: await DirectoryBlobStore.open(inside('blobs')),
      keys: FileKeyService.open(inside('key-encryption.key'), { mayCreate: false }),
      clock: new SystemClock(),
      logger: silentLogger,
      copyPath: inside('copy.db'),
      keysPath: inside('keys.db'),
      readerThreads: 1,
      defaultEffort: () => 'medium',
    });
    await service.start();
    return new DataLog(service, async () => {
      await service.stop();
      await topic.close();
      lock.release();
    });
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** What another session like this one is made from. */
  async templateOf(sessionId: SessionId): Promise<SessionTemplate> {
    const { records } = await this.service.getEvents(sessionStream(sessionId), { kinds: ['session.created'] });
    const created = records[0];
    if (created?.kind !== 'session.created') throw new Error(`${sessionId} has no beginning`);
    const { workspaceId, environmentId, sources, budgetCents } = created.facets;
    const base = { type: 'create-session' as const, idempotency: null, initialEvents: [] };
    return { ...base, workspaceId, environmentId, sources, budgetCents, ...created.payload };
  }

  async newSession(template: SessionTemplate): Promise<SessionId> {
    const sessionId = formatId('session', this.clock.randomBytes(16));
    const outcome = await this.service.execute({ ...template, sessionId });
    if (outcome.kind !== 'done') throw new Error(`a session was refused: ${outcome.refusal.message}`);
    return sessionId;
  }

  async newSessions(template: SessionTemplate, count: number): Promise<SessionId[]> {
    const ids: SessionId[] = [];
    await concurrently(256, count, async () => void ids.push(await this.newSession(template)));
    return ids;
  }
}
