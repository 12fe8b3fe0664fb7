import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EmbeddedTopic, LocalKeyService, SystemClock } from '@manyhands/adapter-embedded';
import { silentLogger, type BlobStore } from '@manyhands/ports';
import { createSessionCommand, MemoryBlobStore, newTestId, sendText } from '@manyhands/ports/testing';
import { partitionOf, sessionStream, topics, type Offset, type SessionId } from '@manyhands/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SessionLogService, type SessionLogServiceOptions } from './session-log-service.ts';

const workspaceId = newTestId('workspace');
const secret = 'the-canary-that-nobody-may-find';
const partitions = { 'sessions-01': 4, 'resources-01': 2, keys: 2, wakes: 1, workers: 1 };

describe('the session log on disk', { timeout: 60_000 }, () => {
  const clock = new SystemClock();
  let directory: string;
  let topic: EmbeddedTopic;
  let blobs: BlobStore;
  let running: SessionLogService[];

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'session-log-'));
    blobs = new MemoryBlobStore();
    running = [];
  });
  afterEach(async () => {
    await stop();
    rmSync(directory, { recursive: true });
  });

  const file = (name: string): string => path.join(directory, name);

  async function start(changes: Partial<SessionLogServiceOptions> = {}): Promise<SessionLogService> {
    topic = await EmbeddedTopic.open({ file: file('log.db'), partitions });
    const service = new SessionLogService({
      topic,
      blobs,
      keys: new LocalKeyService(new Uint8Array(32).fill(7)),
      clock,
      logger: silentLogger,
      copyPath: file('copy.db'),
      keysPath: file('keys.db'),
      readerThreads: 1,
      defaultEffort: () => 'medium',
      ...changes,
    });
    running.push(service);
    await service.start();
    return service;
  }

  async function stop(): Promise<void> {
    for (const service of running.splice(0)) {
      await service.stop();
      await topic.close();
    }
  }

  async function sessionWithSecrets(service: SessionLogService): Promise<SessionId> {
    const command = createSessionCommand(workspaceId, { title: secret, metadata: { note: secret } });
    await service.execute(command);
    const { sessionId } = command;
    await service.execute(sendText(workspaceId, sessionId, secret));
    await service.execute(sendText(workspaceId, sessionId, secret.repeat(20_000)));
    await service.execute({
      type: 'send-events',
      workspaceId,
      idempotency: null,
      sessionId,
      events: [{ type: 'user.interrupt', sessionThreadId: null }],
    });
    return sessionId;
  }

  /** Ends its turn, so that it may be deleted. */
  async function letIdle(service: SessionLogService, sessionId: SessionId): Promise<void> {
    const state = await service.getState(sessionId);
    if (!state) throw new Error('no such session');
    const id = () => newTestId('event');
    const seqs = state.queue.map((input) => input.seq);
    const result = await service.append({
      sessionId,
      workspaceId,
      epoch: (state.epoch + 1) as never,
      expectedSeq: state.seq,
      records: [
        { kind: 'lease.taken', id: id(), facets: { incarnation: newTestId('incarnation') }, payload: null },
        { kind: 'input.dropped', id: id(), facets: { seqs }, payload: null },
        { kind: 'session.status_idle', id: id(), facets: { stopReason: { type: 'end_turn' } }, payload: null },
        { kind: 'lease.released', id: id(), facets: {}, payload: null },
      ],
    });
    expect(result.kind).toBe('accepted');
  }

  const remove = (sessionId: SessionId) => ({
    type: 'delete-session' as const,
    workspaceId,
    idempotency: null,
    sessionId,
  });

  async function erased(service: SessionLogService, count = 1): Promise<void> {
    for (let i = 0; service.counters.erasedSessions < count && i < 1_000; i++) await clock.sleep(5);
    expect(service.counters.erasedSessions).toBe(count);
  }

  async function wrappedKeysOf(sessionId: SessionId): Promise<number> {
    const partition = partitionOf(sessionId, topic.partitionsOf(topics.keys));
    const messages = await topic.read({ topic: topics.keys, partition, offset: 0 as Offset }, 1 << 24);
    const latest = new Map(
      messages.filter(({ key }) => key.startsWith(sessionId)).map(({ key, value }) => [key, value]),
    );
    return [...latest.values()].filter((value) => value !== null).length;
  }

  async function historyHash(service: SessionLogService, sessionIds: readonly SessionId[]): Promise<string> {
    const hash = createHash('sha256');
    for (const id of sessionIds) {
      hash.update(JSON.stringify(await service.getEvents(sessionStream(id), {})));
      hash.update(JSON.stringify(await service.getState(id)));
    }
    return hash.digest('hex');
  }

  it('lets its owner alone read its files', async () => {
    await sessionWithSecrets(await start());
    const names = readdirSync(directory);
    expect(names).toEqual(expect.arrayContaining(['copy.db', 'copy.db-wal', 'copy.db-shm', 'keys.db', 'keys.db-wal']));
    for (const name of names) expect(statSync(file(name)).mode & 0o777, name).toBe(0o600);
  });

  it('shows no plaintext in any file, and nothing at all of a deleted session', async () => {
    const erasedElsewhere: string[] = [];
    const service = await start({ eraseElsewhere: async (id) => void erasedElsewhere.push(id) });
    const sessionId = await sessionWithSecrets(service);
    await letIdle(service, sessionId);
    expect((blobs as MemoryBlobStore).blobs.size).toBe(1);
    const wrapped = await wrappedKeysOf(sessionId);
    expect(wrapped).toBe(1);
    expect(await service.execute(remove(sessionId))).toMatchObject({ kind: 'done' });
    expect(await service.session(workspaceId, sessionId)).toBeNull();
    await erased(service);
    expect(erasedElsewhere).toEqual([sessionId]);
    expect((blobs as MemoryBlobStore).blobs.size).toBe(0);
    expect(await wrappedKeysOf(sessionId)).toBe(0);
    await stop();
    for (const name of readdirSync(directory)) expect(readFileSync(file(name)).includes(secret), name).toBe(false);

    for (const name of ['copy.db', 'keys.db']) rmSync(file(name), { force: true });
    const again = await start();
    expect(await again.session(workspaceId, sessionId)).toBeNull();
    const { records } = await again.getEvents(sessionStream(sessionId), {});
    expect(records.map(({ kind, payload }) => [kind, payload])).toEqual([
      ['session.deleted', null],
      ['session.erased', null],
    ]);
  });

  it.each([1, 2, 3])('completes a deletion that was cut off at its step %i', async (step) => {
    let isCut = true;
    const cut = (at: number) => {
      if (isCut && step === at) throw new Error('cut off');
    };
    const memory = blobs as MemoryBlobStore;
    const cutBlobs: BlobStore = {
      put: (key, bytes) => memory.put(key, bytes),
      get: (key) => memory.get(key),
      deletePrefix: async (prefix) => {
        cut(1);
        await memory.deletePrefix(prefix);
        cut(2);
      },
    };
    const service = await start({ blobs: cutBlobs, eraseElsewhere: async () => cut(3) });
    const sessionId = await sessionWithSecrets(service);
    await letIdle(service, sessionId);
    await service.execute(remove(sessionId));
    await clock.sleep(50);
    expect(service.counters.erasedSessions).toBe(0);
    await stop();
    isCut = false;
    await erased(await start());
    expect(memory.blobs.size).toBe(0);
    expect(await wrappedKeysOf(sessionId)).toBe(0);
    await stop();
    const last = await start();
    await clock.sleep(30);
    expect(last.counters.erasedSessions).toBe(0);
  });

  it.each([
    ['missing', (name: string) => rmSync(name)],
    ['cut short', (name: string) => truncateSync(name, 20_000)],
    ['no database', (name: string) => writeFileSync(name, 'nonsense '.repeat(5_000))],
  ])('gives the same answers from a copy that was %s (L6)', async (_, damage) => {
    const service = await start();
    const sessionIds: SessionId[] = [];
    for (let i = 0; i < 3; i++) sessionIds.push(await sessionWithSecrets(service));
    const before = await historyHash(service, sessionIds);
    await stop();
    damage(file('copy.db'));
    const again = await start();
    expect(await historyHash(again, sessionIds)).toBe(before);
    expect(again.counters.foldedRecords).toBeGreaterThan(0);
    await stop();
    const quick = await start();
    expect(quick.counters.foldedRecords).toBe(0);
    expect(await historyHash(quick, sessionIds)).toBe(before);
  });

  it('folds the states of another build again from the local records (L6)', async () => {
    const service = await start();
    const sessionId = await sessionWithSecrets(service);
    const before = await historyHash(service, [sessionId]);
    await stop();
    const newer = await start({ foldVersion: 2 });
    expect(newer.counters.foldedRecords).toBe(0);
    expect(await historyHash(newer, [sessionId])).toBe(before);
    expect((await newer.runnable({ dueAt: clock.now(), limit: 10 })).map((row) => row.sessionId)).toEqual([sessionId]);
  });

  it('tells a lost key as a fault of its own session alone', async () => {
    const service = await start();
    const [lost, well] = [await sessionWithSecrets(service), await sessionWithSecrets(service)];
    await stop();
    topic = await EmbeddedTopic.open({ file: file('log.db'), partitions });
    const partition = partitionOf(lost, topic.partitionsOf(topics.keys));
    const held = await topic.read({ topic: topics.keys, partition, offset: 0 as Offset }, 1 << 24);
    const { key } = held.find((message) => message.key.startsWith(lost)) ?? { key: '' };
    await topic.append([{ topic: topics.keys, partition, key, value: null }]);
    await topic.close();

    const again = await start();
    await expect(again.session(workspaceId, lost)).rejects.toMatchObject({ code: 'key-missing' });
    await expect(again.getEvents(sessionStream(lost), {})).rejects.toMatchObject({ code: 'key-missing' });
    await expect(again.execute(sendText(workspaceId, lost, 'more'))).rejects.toMatchObject({ code: 'key-missing' });
    expect(await again.session(workspaceId, well)).toMatchObject({ title: secret });
    const query = {
      workspaceId,
      limit: 10,
      order: 'desc' as const,
      after: null,
      createdAt: {},
      includeArchived: false,
    };
    const listed = await again.sessions({ ...query, statuses: null, agentId: null, agentVersion: null });
    expect(listed.items.map(({ value }) => value.id)).toEqual([well]);
    expect(existsSync(file('keys.db'))).toBe(true);
  });
});
