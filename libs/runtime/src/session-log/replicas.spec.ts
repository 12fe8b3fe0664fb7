import { SystemClock } from '@manyhands/adapter-embedded';
import { SessionLogError, TopicError, type TopicEntry } from '@manyhands/ports';
import { type AppendFault, createSessionCommand, deliveriesOf, newTestId, sendText } from '@manyhands/ports/testing';
import {
  encodeCommit,
  partitionOf,
  sessionStream,
  topics,
  type Commit,
  type Epoch,
  type Instant,
  type KeyId,
  type Seq,
  type SessionId,
} from '@manyhands/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogReplicas } from '../testing/log-replicas.ts';
import type { SessionLogService } from './session-log-service.ts';

const workspaceId = newTestId('workspace');

describe('replicas of the session log', { timeout: 60_000 }, () => {
  const clock = new SystemClock();
  let faults: AppendFault[];
  let log: LogReplicas;
  let questions: number;
  let isAway: boolean;

  beforeEach(() => {
    faults = [];
    questions = 0;
    isAway = false;
    log = new LogReplicas(clock, {
      appending: (entries) => (isOfSessions(entries) ? (faults.shift() ?? { kind: 'none' }) : { kind: 'none' }),
      askingEndOffsets: async () => {
        questions++;
        await clock.sleep(1);
        if (isAway) throw new TopicError('unavailable', 'no leader');
      },
    });
  });
  afterEach(() => log.stopAll());

  async function newSession(service: SessionLogService): Promise<SessionId> {
    const command = createSessionCommand(workspaceId);
    await service.execute(command);
    return command.sessionId;
  }

  async function history(service: SessionLogService, sessionId: SessionId) {
    const { records } = await service.getEvents(sessionStream(sessionId), {});
    return {
      records,
      state: await service.getState(sessionId),
      session: await service.session(workspaceId, sessionId),
    };
  }

  function partitionFor(sessionId: SessionId) {
    return { topic: topics.sessions, partition: partitionOf(sessionId, log.topic.partitionsOf(topics.sessions)) };
  }

  /** A commit as another process could have written it. */
  function commit(sessionId: SessionId, expectedSeq: number, changes: Partial<Commit> = {}): Commit {
    return {
      v: 1,
      commitId: newTestId('commit'),
      streamId: sessionStream(sessionId),
      workspaceId,
      keyId: '' as KeyId,
      epoch: 0 as Epoch,
      expectedSeq: expectedSeq as Seq,
      at: clock.now(),
      minFold: 1,
      records: [{ id: newTestId('event'), kind: 'agent.thinking', facets: {} }],
      ...changes,
    };
  }

  async function write(sessionId: SessionId, value: Uint8Array): Promise<void> {
    await log.topic.append([{ ...partitionFor(sessionId), key: sessionId, value }]);
  }

  it('come to the same histories, also one that starts from nothing (L1, L6)', async () => {
    const first = await log.start();
    const sessionIds = await Promise.all(Array.from({ length: 5 }, () => newSession(first)));
    const second = await log.start();
    await Promise.all(
      sessionIds.flatMap((id) =>
        Array.from({ length: 10 }, (_, i) =>
          (i % 2 ? first : second).execute(sendText(workspaceId, id, `message ${i}`)),
        ),
      ),
    );
    const third = await log.start();
    for (const id of sessionIds) {
      const expected = await history(first, id);
      expect(expected.records.map(({ seq }) => seq)).toEqual(expected.records.map((_, i) => i + 1));
      expect(expected.records.filter(({ kind }) => kind === 'user.message')).toHaveLength(10);
      for (const other of [second, third]) {
        const { records, state, session } = await history(other, id);
        expect(records).toEqual(expected.records);
        expect(state).toEqual(expected.state);
        expect(session).toMatchObject({ id, status: 'running' });
      }
    }
  });

  it('accept a commit once, however often it lies in the topic (L4)', async () => {
    const service = await log.start();
    const sessionId = await newSession(service);
    faults = [{ kind: 'duplicate' }];
    const outcome = await service.execute(sendText(workspaceId, sessionId, 'once'));
    expect(outcome).toMatchObject({ kind: 'done', firstSeq: 2 });
    const { records } = await service.getEvents(sessionStream(sessionId), { kinds: ['user.message'] });
    expect(records).toHaveLength(1);
    expect(service.counters.refusedCommits).toBe(1);
  });

  it('answer with the first copy when the outcome of a write was lost (L4)', async () => {
    const service = await log.start();
    const sessionId = await newSession(service);
    faults = [
      { kind: 'unknown-outcome', written: 1 },
      { kind: 'unknown-outcome', written: 0 },
      { kind: 'unavailable' },
    ];
    expect(await service.execute(sendText(workspaceId, sessionId, 'written, unanswered'))).toMatchObject({
      firstSeq: 2,
    });
    expect(await service.execute(sendText(workspaceId, sessionId, 'not written'))).toMatchObject({ kind: 'done' });
    const { records } = await service.getEvents(sessionStream(sessionId), { kinds: ['user.message'] });
    expect(records).toHaveLength(2);
    expect(faults).toEqual([]);
  });

  it('say after a few seconds that a log takes nothing, and write again when it does', async () => {
    const service = await log.start();
    const sessionId = await newSession(service);
    faults = Array.from({ length: 1_000 }, () => ({ kind: 'unavailable' }) as const);
    const began = clock.monotonicMs();
    await expect(service.execute(sendText(workspaceId, sessionId, 'never written'))).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the log cannot be written',
    });
    expect(clock.monotonicMs() - began).toBeLessThan(15_000);
    faults = [];
    await service.execute(sendText(workspaceId, sessionId, 'written'));
    const { records } = await service.getEvents(sessionStream(sessionId), { kinds: ['user.message'] });
    expect(records).toHaveLength(1);
  });

  it('let no fast clock freeze the time of a stream (L8)', async () => {
    const service = await log.start();
    const sessionId = await newSession(service);
    const head = (await service.getState(sessionId))?.seq as Seq;
    await write(
      sessionId,
      encodeCommit(commit(sessionId, head, { at: (clock.now() + 3_600_000) as Instant, records: [message()] })),
    );
    await write(sessionId, encodeCommit(commit(sessionId, head + 1, { at: 5 as Instant, records: [message()] })));
    const { records } = await service.getEvents(sessionStream(sessionId), { after: head });
    expect(records).toHaveLength(2);
    expect(records[0]?.time).toBeLessThanOrEqual(clock.now());
    expect(records[1]?.time).toBe(records[0]?.time);
  });

  it('refuse and count what is no commit, and go on (L12)', async () => {
    const service = await log.start();
    const sessionId = await newSession(service);
    for (const value of [
      new Uint8Array([1, 2, 3]),
      encode('{}'),
      encode('[]'),
      encode(JSON.stringify({ ...commit(sessionId, 1), v: 99 })),
    ]) {
      await write(sessionId, value);
    }
    // A commit in a partition that is not its stream's would have another order on every replica.
    const { topic, partition } = partitionFor(sessionId);
    const elsewhere = (partition + 1) % log.topic.partitionsOf(topics.sessions);
    await log.topic.append([
      { topic, partition: elsewhere, key: sessionId, value: encodeCommit(commit(sessionId, 1)) },
    ]);
    expect(await service.execute(sendText(workspaceId, sessionId, 'still well'))).toMatchObject({
      kind: 'done',
      firstSeq: 2,
    });
    await service.sessions({ ...list, workspaceId });
    expect(service.counters.refusedMessages).toBe(5);
  });

  it('break one stream at the record that cannot be folded, and no other (L12)', async () => {
    const service = await log.start();
    const [broken, well] = [await newSession(service), await newSession(service)];
    await write(
      broken,
      encodeCommit(commit(broken, 1, { records: [{ id: newTestId('event'), kind: 'model.response', facets: {} }] })),
    );
    await write(broken, encodeCommit(commit(broken, 2)));
    const { records } = await service.getEvents(sessionStream(broken), {});
    expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    await expect(service.getState(broken)).rejects.toMatchObject({ code: 'stream-broken' });
    await expect(service.session(workspaceId, broken)).rejects.toMatchObject({ code: 'stream-broken' });
    await expect(service.execute(sendText(workspaceId, broken, 'no'))).rejects.toBeInstanceOf(SessionLogError);
    expect(await service.execute(sendText(workspaceId, well, 'yes'))).toMatchObject({ kind: 'done' });
    expect((await service.sessions({ ...list, workspaceId })).items.map(({ value }) => value.id)).toEqual([well]);
    expect(service.counters.brokenStreams).toBe(1);
    const idempotency = null;
    expect(
      await service.execute({ type: 'delete-session', workspaceId, idempotency, sessionId: broken }),
    ).toMatchObject({
      kind: 'done',
      firstSeq: 4,
    });
    expect(await service.session(workspaceId, broken)).toBeNull();
  });

  it('do not fold a stream that demands a newer build, which folds it (L13)', async () => {
    const old = await log.start();
    const sessionId = await newSession(old);
    await write(sessionId, encodeCommit(commit(sessionId, 1, { minFold: 2, records: [message()] })));
    await old.getEvents(sessionStream(sessionId), {});
    await expect(old.getState(sessionId)).rejects.toMatchObject({ code: 'unavailable', retriable: true });
    const newer = await log.start({ foldVersion: 2 });
    expect((await newer.getState(sessionId))?.seq).toBe(2);
  });

  it('answer nothing that is older than the question, though they lag behind (L11)', async () => {
    let isHeld = false;
    const waiting: (() => void)[] = [];
    const held = new LogReplicas(clock, {
      delivering: () => (isHeld ? new Promise<void>((resolve) => waiting.push(resolve)) : undefined),
    });
    const writer = await held.start();
    const command = createSessionCommand(workspaceId);
    await writer.execute(command);
    const reader = await held.start();
    isHeld = true;
    const { sessionId } = command;
    const sent = writer.execute(sendText(workspaceId, sessionId, 'new'));
    await clock.sleep(20);
    const question = reader.events(workspaceId, sessionId, {
      order: 'asc',
      limit: 10,
      after: null,
      types: null,
      createdAt: {},
    });
    await clock.sleep(20);
    isHeld = false;
    for (const release of waiting) release();
    await sent;
    expect(deliveriesOf(await question).map(({ event }) => event.type)).toContain('user.message');
    await held.stopAll();
  });

  it('answer 503 when the end of the log cannot be asked for, but accept writes (L11)', async () => {
    const service = await log.start();
    const sessionId = await newSession(service);
    isAway = true;
    await expect(service.session(workspaceId, sessionId)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(service.execute(sendText(workspaceId, newTestId('session'), 'x'))).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await service.execute(sendText(workspaceId, sessionId, 'x'))).toMatchObject({ kind: 'done' });
    isAway = false;
    expect(await service.session(workspaceId, sessionId)).not.toBeNull();
  });

  it('ask once for many who come together (L11)', async () => {
    const service = await log.start();
    const sessionId = await newSession(service);
    questions = 0;
    await Promise.all(Array.from({ length: 50 }, () => service.session(workspaceId, sessionId)));
    expect(questions).toBeLessThanOrEqual(2);
  });

  it('decide a refusal on everything that was durable before it (L11)', async () => {
    const [first, second] = [await log.start(), await log.start()];
    const sessionId = await newSession(first);
    expect(await second.execute(sendText(workspaceId, sessionId, 'seen by all'))).toMatchObject({ kind: 'done' });
    const archive = { type: 'archive-session' as const, workspaceId, idempotency: null, sessionId };
    expect(await first.execute(archive)).toMatchObject({ refusal: { code: 'session_running' } });
  });

  it('stop a partition whose log was cut, and say so (L7)', async () => {
    const service = await log.start();
    const sessionId = await newSession(service);
    await service.execute(sendText(workspaceId, sessionId, 'second message of its partition'));
    await log.stopAll();
    log.topic.truncate(partitionFor(sessionId), 1);
    await expect(log.start()).rejects.toMatchObject({
      name: 'TopicError',
      code: 'damaged',
      message: expect.stringMatching(/is not folded: the partition begins at 1/) as string,
    });
  });
});

const list = {
  limit: 10,
  order: 'desc' as const,
  after: null,
  createdAt: {},
  includeArchived: false,
  statuses: null,
  agentId: null,
  agentVersion: null,
};

function isOfSessions(entries: readonly TopicEntry[]): boolean {
  return entries[0]?.topic === topics.sessions;
}

function message() {
  return { id: newTestId('event'), kind: 'user.message', facets: { placed: false, chars: 1 } };
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
