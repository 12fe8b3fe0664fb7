/**
 * What every session log keeps, whatever topic lies under it. The service under test is its own, its sessions are new for
 * every test, so a suite may run against a log that others use too.
 */
import type {
  Epoch,
  Instant,
  LogRecord,
  Microcents,
  Seq,
  SessionDraft,
  SessionId,
  StreamId,
  WorkspaceId,
} from '@manyhands/protocol';
import { sessionStream } from '@manyhands/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type {
  Delivery,
  EventCursor,
  EventQuery,
  EventsPage,
  SessionListQuery,
  SessionLog,
  SessionService,
} from '../session-log.ts';
import { deliveriesOf } from './events-page.ts';
import {
  createAgentCommand,
  createEnvironmentCommand,
  createSessionCommand,
  newTestId,
  sendText,
} from './log-fixtures.ts';

export interface SessionLogUnderTest {
  log: SessionLog & SessionService;
  stop(): Promise<void>;
}

const everything: EventQuery = { order: 'asc', limit: 1_000, after: null, types: null, createdAt: {} };

export function sessionLogContract(open: () => Promise<SessionLogUnderTest>): void {
  let under: SessionLogUnderTest;
  let log: SessionLog & SessionService;
  const workspaceId = newTestId('workspace');

  beforeAll(async () => {
    under = await open();
    log = under.log;
  });
  afterAll(() => under.stop());

  async function newSession(changes: Parameters<typeof createSessionCommand>[1] = {}): Promise<SessionId> {
    const command = createSessionCommand(workspaceId, changes);
    expect(await log.execute(command)).toMatchObject({ kind: 'done', firstSeq: 1, repeated: false });
    return command.sessionId;
  }

  async function send(sessionId: SessionId, text: string) {
    const outcome = await log.execute(sendText(workspaceId, sessionId, text));
    if (outcome.kind !== 'done') throw new Error(outcome.refusal.message);
    return outcome;
  }

  /** A holder that takes what waits. */
  async function claim(sessionId: SessionId) {
    const state = await log.getState(sessionId);
    if (!state) throw new Error('no such session');
    const epoch = (state.epoch + 1) as Epoch;
    const taken = state.queue.map((input) => input.seq);
    const records: SessionDraft[] = [
      draft('lease.taken', { incarnation: newTestId('incarnation') }),
      ...(taken.length > 0 ? [draft('input.taken', { seqs: taken })] : []),
    ];
    const result = await log.append({ sessionId, workspaceId, epoch, expectedSeq: state.seq, records });
    if (result.kind !== 'accepted') throw new Error('the claim met a conflict');
    return { epoch, seq: result.lastSeq };
  }

  async function allEvents(sessionId: SessionId): Promise<Delivery[]> {
    return deliveriesOf(await log.events(workspaceId, sessionId, everything));
  }

  describe('append', () => {
    it('accepts a commit at its expected seq and gives it the seqs that follow', async () => {
      const sessionId = await newSession();
      await send(sessionId, 'one');
      const { epoch, seq } = await claim(sessionId);
      const records = [draft('agent.thinking', {}), draft('agent.thinking', {})];
      const result = await log.append({ sessionId, workspaceId, epoch, expectedSeq: seq, records });
      expect(result).toMatchObject({ kind: 'accepted', firstSeq: seq + 1, lastSeq: seq + 2 });
      const { records: stored } = await log.getEvents(sessionStream(sessionId), { after: seq });
      expect(stored.map((record) => record.id)).toEqual(records.map((record) => record.id));
    });

    it('refuses a commit whose place is taken, for good', async () => {
      const sessionId = await newSession();
      await send(sessionId, 'one');
      const { epoch, seq } = await claim(sessionId);
      const commit = () => ({
        sessionId,
        workspaceId,
        epoch,
        expectedSeq: seq,
        records: [draft('agent.thinking', {})],
      });
      const results = await Promise.all(Array.from({ length: 20 }, () => log.append(commit())));
      expect(results.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === 'conflict')).toHaveLength(19);
      expect(await log.append(commit())).toEqual({ kind: 'conflict', headSeq: seq + 1, epoch });
    });

    it('refuses a commit of an older epoch (L3)', async () => {
      const sessionId = await newSession();
      await send(sessionId, 'one');
      const first = await claim(sessionId);
      const second = await claim(sessionId);
      const records = [draft('agent.thinking', {})];
      const late = await log.append({ sessionId, workspaceId, epoch: first.epoch, expectedSeq: second.seq, records });
      expect(late).toEqual({ kind: 'conflict', headSeq: second.seq, epoch: second.epoch });
    });

    it('numbers a stream 1, 2, 3 without gaps under concurrent commands (L5)', async () => {
      const sessionId = await newSession();
      await Promise.all(Array.from({ length: 40 }, (_, i) => send(sessionId, `message ${i}`)));
      const { records } = await log.getEvents(sessionStream(sessionId), {});
      expect(records.map(({ seq }) => seq)).toEqual(records.map((_, i) => i + 1));
      expect((await log.getState(sessionId))?.queue).toHaveLength(40);
    });

    it('never lets time run backwards, and gives the records of a commit one time (L8)', async () => {
      const sessionId = await newSession();
      for (const text of ['one', 'two', 'three']) await send(sessionId, text);
      const { records } = await log.getEvents(sessionStream(sessionId), {});
      const times = records.map(({ time }) => time);
      expect(times).toEqual([...times].sort((a, b) => a - b));
    });
  });

  describe('getEvents', () => {
    it('returns slices in both directions, by kind and by count', async () => {
      const sessionId = await newSession();
      for (const text of ['one', 'two', 'three']) await send(sessionId, text);
      const stream = sessionStream(sessionId);
      const seqsOf = async (slice: Parameters<SessionLog['getEvents']>[1]) =>
        (await log.getEvents(stream, slice)).records.map(({ seq }) => seq as number);
      const messages = await seqsOf({ kinds: ['user.message'] });
      expect(messages).toHaveLength(3);
      expect(await seqsOf({ kinds: ['user.message'], order: 'desc' })).toEqual([...messages].reverse());
      expect(await seqsOf({ after: 1 as Seq, upTo: 3 as Seq })).toEqual([2, 3]);
      expect(await log.getEvents(stream, { limit: 2 })).toMatchObject({ complete: false });
      expect(await log.getEvents(stream, { after: 1_000 as Seq })).toEqual({ records: [], complete: true });
    });

    it('gives contents back as they were written, also those that no commit can hold (L10)', async () => {
      const sessionId = await newSession();
      const texts = ['short', 'x'.repeat(3 * 1024 * 1024), 'ümläut \u0000 \ud83d\ude00'];
      for (const text of texts) await send(sessionId, text);
      const { records } = await log.getEvents(sessionStream(sessionId), { kinds: ['user.message'] });
      expect(records.map(textOf)).toEqual(texts);
      const listed = (await allEvents(sessionId))
        .map(({ event }) => event)
        .filter(({ type }) => type === 'user.message');
      const blocks = listed.flatMap((event) => (event as { content: { text: string }[] }).content);
      expect(blocks.map(({ text }) => text)).toEqual(texts);
    });

    it('cuts a page at 8 MiB and goes on behind it', async () => {
      const sessionId = await newSession();
      for (let i = 0; i < 4; i++) await send(sessionId, 'y'.repeat(3 * 1024 * 1024));
      const stream = sessionStream(sessionId);
      const first = await log.getEvents(stream, { kinds: ['user.message'] });
      expect(first.complete).toBe(false);
      expect(first.records).toHaveLength(2);
      const rest = await log.getEvents(stream, { kinds: ['user.message'], after: first.records[1]?.seq });
      expect(rest).toMatchObject({ complete: true });
      expect(rest.records).toHaveLength(2);
    });

    it('knows nothing of a stream that nobody wrote', async () => {
      expect(await log.getEvents('sesn_01unknown' as StreamId, {})).toEqual({ records: [], complete: true });
      expect(await log.getState('sesn_01unknown' as SessionId)).toBeNull();
    });
  });

  describe('tail', () => {
    it('yields every record once and in order, while it is written and from any seq', async () => {
      const sessionId = await newSession();
      const stop = new AbortController();
      const reading = collect(log.tail(sessionStream(sessionId), 0 as Seq, stop.signal), 61);
      await Promise.all(Array.from({ length: 29 }, (_, i) => send(sessionId, `message ${i}`)));
      const late = collect(log.tail(sessionStream(sessionId), 10 as Seq, stop.signal), 51);
      for (let i = 0; i < 29; i++) await send(sessionId, `later ${i}`);
      expect((await reading).map(({ seq }) => seq)).toEqual(Array.from({ length: 61 }, (_, i) => i + 1));
      expect((await late).map(({ seq }) => seq)).toEqual(Array.from({ length: 51 }, (_, i) => i + 11));
      stop.abort();
    });

    it('ends when its signal aborts', async () => {
      const sessionId = await newSession();
      const stop = new AbortController();
      const reading = collect(log.tail(sessionStream(sessionId), 0 as Seq, stop.signal), 1_000);
      stop.abort();
      expect((await reading).length).toBeLessThan(1_000);
    });
  });

  describe('runnable', () => {
    it('names a session that wants the brain, and who holds it', async () => {
      const sessionId = await newSession();
      const seen: unknown[] = [];
      const unsubscribe = log.onRunnable((row) => row.sessionId === sessionId && seen.push(row));
      await send(sessionId, 'one');
      const dueAt = Number.MAX_SAFE_INTEGER as Instant;
      const rowOf = async () =>
        (await log.runnable({ dueAt, limit: 10_000 })).find((row) => row.sessionId === sessionId);
      expect(await rowOf()).toMatchObject({ holder: null, barrenTakeovers: 0 });
      expect(seen).toHaveLength(1);
      await claim(sessionId);
      expect((await rowOf())?.holder).not.toBeNull();
      unsubscribe();
    });
  });

  describe('events', () => {
    it('puts a waiting message last and without a time, and gives it its place when it is taken', async () => {
      const sessionId = await newSession();
      await send(sessionId, 'one');
      expect((await allEvents(sessionId)).map(({ event }) => event.type)).toEqual([
        'session.status_running',
        'session.thread_status_running',
        'user.message',
      ]);
      expect((await allEvents(sessionId)).at(-1)?.event).toMatchObject({ processed_at: null });
      await claim(sessionId);
      const events = await allEvents(sessionId);
      expect(events.at(-1)?.event.type).toBe('user.message');
      expect(events.at(-1)?.event.processed_at).toEqual(expect.any(String));
    });

    it('pages forwards and backwards over the same order', async () => {
      const sessionId = await newSession();
      for (let i = 0; i < 9; i++) {
        await send(sessionId, `message ${i}`);
        if (i % 3 === 2) await claim(sessionId);
      }
      const whole = (await allEvents(sessionId)).map(({ event }) => event.id);
      expect(await pageThrough(log, workspaceId, sessionId, { ...everything, limit: 2 })).toEqual(whole);
      const backwards = await pageThrough(log, workspaceId, sessionId, { ...everything, order: 'desc', limit: 2 });
      expect(backwards).toEqual([...whole].reverse());
    });

    it('gives an event whole whose response is larger than a page', async () => {
      const sessionId = await newSession();
      await send(sessionId, 'one');
      const { epoch, seq } = await claim(sessionId);
      const text = 'z'.repeat(9 * 1024 * 1024);
      const start = draft('span.model_request_start', {
        purpose: 'turn',
        estimatedInputTokens: 1,
        estimatedCost: 0 as Microcents,
      });
      const response = draft('model.response', { startId: start.id, stopReason: 'end_turn', contextTokens: 1 });
      const records = [
        start,
        { ...response, payload: { blocks: [{ type: 'text', text }] } } as SessionDraft,
        draft('agent.message', { responseSeq: (seq + 2) as Seq, blocks: [0] }),
        draft('agent.thinking', {}),
      ];
      await log.append({ sessionId, workspaceId, epoch, expectedSeq: seq, records });
      const ids = await pageThrough(log, workspaceId, sessionId, everything);
      expect(ids.slice(-3)).toEqual([start.id, records[2]?.id, records[3]?.id]);
      const stop = new AbortController();
      const following = await log.follow(workspaceId, sessionId, { seq, n: 1_000 }, stop.signal);
      if (!following) throw new Error('no such session');
      const delivered = await collect(following.deliveries, 3);
      expect(delivered.map(({ event }) => event.id)).toEqual(ids.slice(-3));
      stop.abort();
    });

    it('pages without gaps and repeats while events are appended', async () => {
      const sessionId = await newSession();
      const seen: string[] = [];
      let after: EventCursor | null = null;
      const readOn = async (): Promise<boolean> => {
        const page = await log.events(workspaceId, sessionId, { ...everything, after, limit: 3 });
        const placed = deliveriesOf(page).filter(({ event }) => event.processed_at !== null);
        seen.push(...placed.map(({ event }) => event.id));
        after = placed.at(-1)?.cursor ?? after;
        return page?.hasMore ?? false;
      };
      for (let i = 0; i < 20; i++) {
        await Promise.all([send(sessionId, `message ${i}`), readOn()]);
        if (i % 3 === 0) await claim(sessionId);
      }
      await claim(sessionId);
      while (await readOn());
      expect(seen).toEqual((await allEvents(sessionId)).map(({ event }) => event.id));
    });

    it('filters by type and by time', async () => {
      const sessionId = await newSession();
      await send(sessionId, 'one');
      await claim(sessionId);
      const only = await log.events(workspaceId, sessionId, { ...everything, types: ['user.message'] });
      expect(deliveriesOf(only).map(({ event }) => event.type)).toEqual(['user.message']);
      const state = await log.getState(sessionId);
      const later = { gt: state?.time as Instant };
      expect(deliveriesOf(await log.events(workspaceId, sessionId, { ...everything, createdAt: later }))).toEqual([]);
    });
  });

  describe('follow', () => {
    it('delivers a waiting message twice: when it came and when it was taken', async () => {
      const sessionId = await newSession();
      const stop = new AbortController();
      const followed = await log.follow(workspaceId, sessionId, 'head', stop.signal);
      if (!followed) throw new Error('no such session');
      await send(sessionId, 'one');
      await claim(sessionId);
      const deliveries = await collect(followed.deliveries, 4);
      const messages = deliveries.filter(({ event }) => event.type === 'user.message');
      expect(messages.map(({ event }) => event.processed_at)).toEqual([null, expect.any(String)]);
      expect(new Set(messages.map(({ event }) => event.id)).size).toBe(1);
      stop.abort();
    });

    it('goes on exactly behind a cursor', async () => {
      const sessionId = await newSession();
      const stop = new AbortController();
      for (let i = 0; i < 3; i++) await send(sessionId, `message ${i}`);
      await claim(sessionId);
      const start = { seq: 0 as Seq, n: 0 };
      const whole = await collect((await follow(sessionId, start, stop.signal)).deliveries, 8);
      for (const [i, { cursor }] of whole.slice(0, -1).entries()) {
        const rest = await collect((await follow(sessionId, cursor, stop.signal)).deliveries, whole.length - i - 1);
        expect(rest).toEqual(whole.slice(i + 1));
      }
      stop.abort();
    });

    it('ends after session.deleted', async () => {
      const sessionId = await newSession();
      const { deliveries } = await follow(sessionId, 'head', new AbortController().signal);
      await log.execute({ type: 'delete-session', workspaceId, idempotency: null, sessionId });
      const seen = await collect(deliveries, 1_000);
      expect(seen.map(({ event }) => event.type)).toEqual(['session.deleted']);
      expect(await log.session(workspaceId, sessionId)).toBeNull();
      expect(await log.follow(workspaceId, sessionId, 'head', new AbortController().signal)).toBeNull();
    });
  });

  async function follow(sessionId: SessionId, after: EventCursor | 'head', signal: AbortSignal) {
    const followed = await log.follow(workspaceId, sessionId, after, signal);
    if (!followed) throw new Error('no such session');
    return followed;
  }

  describe('sessions', () => {
    it('are seen by their own workspace alone', async () => {
      const sessionId = await newSession({ title: 'Mine' });
      expect(await log.session(workspaceId, sessionId)).toMatchObject({ title: 'Mine', status: 'idle' });
      expect(await log.session(newTestId('workspace'), sessionId)).toBeNull();
      expect(await log.thread(workspaceId, sessionId)).toMatchObject({ session_id: sessionId, usage: null });
    });

    it('are listed by creation, page by page and back again', async () => {
      const ownWorkspace = newTestId('workspace');
      const ids: string[] = [];
      for (let i = 0; i < 7; i++) {
        const command = createSessionCommand(ownWorkspace);
        await log.execute(command);
        ids.push(command.sessionId);
      }
      const query = listOf(ownWorkspace, 3);
      const newestFirst = await log.sessions({ ...query, limit: 7 });
      expect(new Set(newestFirst.items.map(({ value }) => value.id))).toEqual(new Set(ids));
      const order = newestFirst.items.map(({ value }) => value.id);
      const first = await log.sessions(query);
      const second = await log.sessions({ ...query, after: first.items.at(-1)?.cursor ?? null });
      expect(first).toMatchObject({ hasMore: true });
      expect([...first.items, ...second.items].map(({ value }) => value.id)).toEqual(order.slice(0, 6));
      const back = await log.sessions({ ...query, after: second.items[0]?.cursor ?? null, backwards: true });
      expect(back).toMatchObject({ hasMore: false });
      expect(back.items.map(({ value }) => value.id)).toEqual(order.slice(0, 3));
    });

    it('are filtered by status and hidden once archived', async () => {
      const own = newTestId('workspace');
      const [idle, archived] = [createSessionCommand(own), createSessionCommand(own)];
      await log.execute(idle);
      await log.execute(archived);
      await log.execute({
        type: 'archive-session',
        workspaceId: own,
        idempotency: null,
        sessionId: archived.sessionId,
      });
      const idsOf = async (changes: Partial<SessionListQuery>) =>
        (await log.sessions({ ...listOf(own, 10), ...changes })).items.map(({ value }) => value.id);
      expect(await idsOf({})).toEqual([idle.sessionId]);
      expect(await idsOf({ includeArchived: true, statuses: ['terminated'] })).toEqual([archived.sessionId]);
      expect(await idsOf({ agentId: idle.agent.id as SessionListQuery['agentId'] })).toEqual([idle.sessionId]);
    });

    it('are updated field by field', async () => {
      const sessionId = await newSession({ title: 'Old', metadata: { kept: 'yes', gone: 'soon' } });
      const base = { type: 'update-session' as const, workspaceId, idempotency: null, sessionId };
      await log.execute({ ...base, title: 'New', metadata: { gone: null, added: 'too' } });
      const session = await log.session(workspaceId, sessionId);
      expect(session).toMatchObject({ title: 'New', metadata: { kept: 'yes', added: 'too' } });
      expect(session?.metadata).not.toHaveProperty('gone');
      expect(await log.sessionAtCreate(workspaceId, sessionId)).toMatchObject({
        title: 'Old',
        metadata: { gone: 'soon' },
      });
      const again = await log.execute({ ...base, title: 'New' });
      expect(again).toMatchObject({ kind: 'done', repeated: false });
      if (again.kind === 'done') expect(again.lastSeq).toBeLessThan(again.firstSeq);
    });
  });

  describe('idempotency', () => {
    it('answers a repeated request with what the first one wrote', async () => {
      const sessionId = await newSession();
      const mark = { key: 'key-one', body: 'body-one' };
      const first = await log.execute(sendText(workspaceId, sessionId, 'once', mark));
      const second = await log.execute(sendText(workspaceId, sessionId, 'once', mark));
      expect(second).toEqual({ ...first, repeated: true });
      const other = await log.execute(sendText(workspaceId, sessionId, 'else', { ...mark, body: 'body-two' }));
      expect(other).toMatchObject({ kind: 'refused', refusal: { code: 'idempotency_key_reused' } });
      const { records } = await log.getEvents(sessionStream(sessionId), { kinds: ['user.message'] });
      expect(records).toHaveLength(1);
    });

    it('makes a session once, and refuses the key after its deletion', async () => {
      const command = createSessionCommand(workspaceId, { idempotency: { key: 'create', body: 'same' } });
      const outcomes = await Promise.all([log.execute(command), log.execute(command)]);
      expect(outcomes.map((outcome) => outcome.kind === 'done' && outcome.repeated)).toEqual([false, true]);
      const { sessionId } = command;
      await log.execute({ type: 'delete-session', workspaceId, idempotency: null, sessionId });
      expect(await log.execute(command)).toMatchObject({
        kind: 'refused',
        refusal: { code: 'idempotency_key_reused' },
      });
    });
  });

  describe('agents', () => {
    it('get a new version for every change, and none for no change', async () => {
      const command = createAgentCommand(workspaceId);
      await log.execute(command);
      const { agentId } = command;
      const update = (body: object) =>
        log.execute({ type: 'update-agent', workspaceId, idempotency: null, agentId, body: body });
      await update({ name: 'Second', version: 1 });
      await update({ name: 'Second' });
      expect((await log.agent(workspaceId, agentId, null))?.value).toMatchObject({ version: 2, name: 'Second' });
      expect((await log.agent(workspaceId, agentId, 1))?.value).toMatchObject({ version: 1, name: 'Fixture agent' });
      expect(await update({ name: 'Second', version: 1 })).toMatchObject({
        refusal: { code: 'agent_version_conflict' },
      });
      const versions = await log.agentVersions(workspaceId, agentId, { limit: 1, before: null });
      expect(versions).toMatchObject({ items: [{ version: 2 }], hasMore: true });
      const older = await log.agentVersions(workspaceId, agentId, { limit: 1, before: 2 });
      expect(older).toMatchObject({ items: [{ version: 1 }], hasMore: false });
    });

    it('are archived once, hidden from lists and refuse updates', async () => {
      const own = newTestId('workspace');
      const command = createAgentCommand(own);
      await log.execute(command);
      const archive = { type: 'archive-agent' as const, workspaceId: own, idempotency: null, agentId: command.agentId };
      await log.execute(archive);
      const archivedAt = (await log.agent(own, command.agentId, null))?.value.archived_at;
      expect(await log.execute(archive)).toMatchObject({ kind: 'done' });
      expect((await log.agent(own, command.agentId, null))?.value.archived_at).toBe(archivedAt);
      expect((await log.agents(listOf(own, 10))).items).toEqual([]);
      expect((await log.agents({ ...listOf(own, 10), includeArchived: true })).items).toHaveLength(1);
      const update = { type: 'update-agent' as const, workspaceId: own, idempotency: null, agentId: command.agentId };
      expect(await log.execute({ ...update, body: { name: 'x' } })).toMatchObject({
        refusal: { code: 'agent_archived' },
      });
      expect(await log.execute({ ...update, agentId: newTestId('agent'), body: {} })).toMatchObject({
        refusal: { code: 'not_found' },
      });
    });
  });

  describe('environments', () => {
    it('have names of their own, until they are deleted', async () => {
      const own = newTestId('workspace');
      const first = createEnvironmentCommand(own, 'name');
      expect(await log.execute(first)).toMatchObject({ kind: 'done' });
      const second = createEnvironmentCommand(own, 'name');
      expect(await log.execute(second)).toMatchObject({ refusal: { code: 'environment_name_taken' } });
      const { environmentId } = first;
      const base = { workspaceId: own, idempotency: null, environmentId };
      expect(await log.execute({ type: 'update-environment', ...base, body: { description: 'new' } })).toMatchObject({
        kind: 'done',
      });
      expect((await log.environment(own, environmentId))?.value).toMatchObject({ name: 'name', description: 'new' });
      await log.execute({ type: 'archive-environment', ...base });
      expect(await log.execute({ type: 'update-environment', ...base, body: { name: 'other' } })).toMatchObject({
        refusal: { code: 'environment_archived' },
      });
      await log.execute({ type: 'delete-environment', ...base });
      expect(await log.environment(own, environmentId)).toBeNull();
      expect(await log.execute(second)).toMatchObject({ kind: 'done' });
      expect((await log.environments(listOf(own, 10))).items).toHaveLength(1);
    });
  });
}

function draft<K extends SessionDraft['kind']>(
  kind: K,
  facets: Extract<SessionDraft, { kind: K }>['facets'],
): SessionDraft {
  return { kind, id: newTestId('event'), facets, payload: null } as unknown as SessionDraft;
}

function textOf(record: LogRecord): string {
  const block = record.kind === 'user.message' ? record.payload.content[0] : undefined;
  return block?.type === 'text' ? block.text : '';
}

function listOf(workspaceId: WorkspaceId, limit: number): SessionListQuery {
  const all = { statuses: null, agentId: null, agentVersion: null, createdAt: {}, includeArchived: false };
  return { workspaceId, limit, order: 'desc', after: null, ...all };
}

async function collect<T>(batches: AsyncIterable<readonly T[]>, count: number): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) {
    all.push(...batch);
    if (all.length >= count) break;
  }
  return all;
}

async function pageThrough(
  log: SessionService,
  workspaceId: WorkspaceId,
  sessionId: SessionId,
  query: EventQuery,
): Promise<string[]> {
  const ids: string[] = [];
  let after: EventCursor | null = null;
  for (;;) {
    const page: EventsPage | null = await log.events(workspaceId, sessionId, { ...query, after });
    const deliveries = deliveriesOf(page);
    ids.push(...deliveries.map(({ event }) => event.id));
    after = deliveries.at(-1)?.cursor ?? after;
    if (!page?.hasMore) return ids;
  }
}
