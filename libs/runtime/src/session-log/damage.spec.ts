/** Copies and logs that are damaged, exchanged or cut: the copy is folded again, the log is refused. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EmbeddedTopic, LocalKeyService, SystemClock } from '@manyhands/adapter-embedded';
import { silentLogger } from '@manyhands/ports';
import { createSessionCommand, MemoryBlobStore, newTestId, sendText } from '@manyhands/ports/testing';
import { sessionStream, type SessionId } from '@manyhands/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { problemOfLog } from './fold/problem-of-log.ts';
import { SessionLogService } from './session-log-service.ts';

const workspaceId = newTestId('workspace');
const partitions = { 'sessions-01': 1, 'resources-01': 1, keys: 1, wakes: 1, workers: 1 };
const blobs = new MemoryBlobStore();
const databases = ['log.db', 'copy.db'];

/** What a start of the server finds, as far as the log is concerned. */
class Place {
  readonly directory: string;
  problem: string | null = null;
  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
  }

  file(name: string): string {
    return path.join(this.directory, name);
  }

  /** Runs a service; `use` is called while it runs. */
  async run<T>(use: (service: SessionLogService) => Promise<T>): Promise<T> {
    const inspect = (log: Parameters<typeof problemOfLog>[0]): void => {
      this.problem = problemOfLog(log, this.file('copy.db'));
    };
    const topic = await EmbeddedTopic.open({ file: this.file('log.db'), partitions, inspect });
    const service = new SessionLogService({
      topic,
      blobs,
      keys: new LocalKeyService(new Uint8Array(32).fill(7)),
      clock: new SystemClock(),
      logger: silentLogger,
      copyPath: this.file('copy.db'),
      keysPath: this.file('keys.db'),
      readerThreads: 1,
      defaultEffort: () => 'medium',
    });
    try {
      await service.start();
      return await use(service);
    } finally {
      await service.stop();
      await topic.close();
    }
  }

  session(messages: number, meanwhile: () => void = () => undefined): Promise<SessionId> {
    return this.run(async (service) => {
      const command = createSessionCommand(workspaceId);
      await service.execute(command);
      for (let n = 0; n < messages; n++) await service.execute(sendText(workspaceId, command.sessionId, `text ${n}`));
      meanwhile();
      return command.sessionId;
    });
  }

  messages(sessionId: SessionId): Promise<number> {
    return this.run(async (service) => {
      const { records } = await service.getEvents(sessionStream(sessionId), { kinds: ['user.message'] });
      return records.length;
    });
  }

  change(name: string, sql: string): void {
    const database = new DatabaseSync(this.file(name));
    database.exec(sql);
    database.close();
  }

  /** Exchanges databases for those of another place, with the write-ahead logs that belong to them. */
  take(databases: readonly string[], from: Place): void {
    for (const name of databases.flatMap((database) => [database, `${database}-wal`])) {
      rmSync(this.file(name), { force: true });
      if (existsSync(from.file(name))) copyFileSync(from.file(name), this.file(name));
    }
  }
}

describe('a data directory', { timeout: 60_000 }, () => {
  let parent: string;
  let place: Place;
  beforeEach(() => {
    parent = mkdtempSync(path.join(tmpdir(), 'damage-'));
    place = new Place(path.join(parent, 'place'));
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  const other = (name = 'other') => new Place(path.join(parent, name));

  it.each(['erasures', 'records', 'meta', 'runnable_by_age'])('whose copy lost %s folds it again', async (name) => {
    const sessionId = await place.session(3);
    place.change('copy.db', `DROP ${name.includes('_by_') ? 'INDEX' : 'TABLE'} ${name}`);
    expect(await place.messages(sessionId)).toBe(3);
    expect(place.problem).toBeNull();
  });

  it('with the copy of another log folds its own again', async () => {
    const sessionId = await place.session(3);
    const foreign = other();
    await foreign.session(7);
    place.take(['copy.db'], foreign);
    expect(await place.messages(sessionId)).toBe(3);
    expect(place.problem).toBeNull();
  });

  it('with an older copy of its own log folds what is missing', async () => {
    const sessionId = await place.session(1);
    const older = other();
    older.take(databases, place);
    await place.run((service) => service.execute(sendText(workspaceId, sessionId, 'later')));
    place.take(['copy.db'], older);
    expect(await place.messages(sessionId)).toBe(2);
    expect(place.problem).toBeNull();
  });

  it('whose log is an older one is refused (L7)', async () => {
    const sessionId = await place.session(1);
    const older = other();
    older.take(databases, place);
    await place.run((service) => service.execute(sendText(workspaceId, sessionId, 'later')));
    place.take(['log.db'], older);
    await expect(place.messages(sessionId)).rejects.toMatchObject({ name: 'TopicError', code: 'damaged' });
    expect(place.problem).toMatch(/lost its newest part: sessions-01\/0 ends at 2, and message 2/);
  });

  it.each([
    ['is missing', 0],
    ['is cut', 0.5],
  ])('whose process was killed and whose newest part %s is refused (L7)', async (_, part) => {
    const killed = other();
    await place.session(20, () => killed.take(databases, place));
    const wal = readFileSync(killed.file('log.db-wal'));
    rmSync(killed.file('log.db-wal'));
    if (part > 0) writeFileSync(killed.file('log.db-wal'), wal.subarray(0, wal.length * part));
    const before = readFileSync(killed.file('log.db'));
    let problem: string | null = null;
    const opening = EmbeddedTopic.open({
      file: killed.file('log.db'),
      partitions,
      inspect: (log) => {
        problem = problemOfLog(log, killed.file('copy.db'));
        throw new Error('refused');
      },
    });
    await expect(opening).rejects.toThrow('refused');
    expect(problem).toMatch(/lost its newest part/);
    expect(readFileSync(killed.file('log.db')).equals(before)).toBe(true);
  });

  it('whose last message was changed is refused (L7)', async () => {
    const sessionId = await place.session(2);
    const foreign = other();
    const otherId = await foreign.session(2);
    place.change(
      'log.db',
      `ATTACH '${foreign.file('log.db')}' AS foreigner;
       DELETE FROM messages_1 WHERE "offset" = 2;
       INSERT INTO messages_1 SELECT * FROM foreigner.messages_1 WHERE "offset" = 2`,
    );
    expect(otherId).not.toBe(sessionId);
    await expect(place.messages(sessionId)).rejects.toMatchObject({ code: 'damaged' });
    expect(place.problem).toMatch(/message 2 of sessions-01\/0 is not the one/);
  });

  it('whose log is another one that is empty is refused', async () => {
    await place.session(2);
    const foreign = other();
    await foreign.run(() => Promise.resolve());
    place.take(['log.db'], foreign);
    await place.run(() => Promise.resolve());
    expect(place.problem).toMatch(/The log is empty/);
  });

  it.each([
    ['lost a message', 'DELETE FROM messages_1 WHERE "offset" = 1', /message 1 of messages_1 is missing/],
    ['holds a message that was changed', 'UPDATE messages_1 SET value = zeroblob(9) WHERE "offset" = 1', /checksum/],
    ['lost its first message', 'DELETE FROM messages_1 WHERE "offset" = 0', /begins at 1/],
  ])('whose log %s says so while its copy is folded', async (_, sql, reason) => {
    const sessionId = await place.session(2);
    place.change('log.db', sql);
    rmSync(place.file('copy.db'));
    await expect(place.messages(sessionId)).rejects.toMatchObject({
      name: 'TopicError',
      code: 'damaged',
      message: expect.stringMatching(reason) as string,
    });
  });
});
