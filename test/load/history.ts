/**
 * Writes long histories as a worker would have written them: the core's own functions say what each step adds, and many
 * steps go into one commit. What no model ever said is what makes it fast.
 */
import {
  claimRecords,
  decideSend,
  defaultTurnLimits,
  evolveSession,
  noTokens,
  settle,
  turnOf,
  type Plan,
  type SessionState,
  type TurnLimits,
} from '@manyhands/core';
import {
  formatId,
  type EventId,
  type LogRecord,
  type ModelBlock,
  type SessionDraft,
  type SessionId,
  type SessionFoldRecord,
} from '@manyhands/protocol';
import type { DataLog } from './data-log.ts';

/** A commit holds no more by far than the 512 KiB that it may. */
const mostRecordsOfCommit = 200;
const limits: TurnLimits = {
  ...defaultTurnLimits,
  price: null,
  contextWindowTokens: 200_000,
  maxOutputTokens: 8_000,
};

export class HistoryWriter {
  readonly #log: DataLog;
  readonly #sessionId: SessionId;
  #state: SessionState;
  #stored: SessionState;
  #drafts: SessionDraft[] = [];

  private constructor(log: DataLog, sessionId: SessionId, state: SessionState) {
    this.#log = log;
    this.#sessionId = sessionId;
    this.#state = state;
    this.#stored = state;
  }

  static async begin(log: DataLog, sessionId: SessionId): Promise<HistoryWriter> {
    const state = await log.service.getState(sessionId);
    if (!state) throw new Error(`${sessionId} does not exist`);
    return new HistoryWriter(log, sessionId, state);
  }

  get length(): number {
    return this.#state.seq;
  }

  /** A message to the running session, which is queued. */
  say(text: string): void {
    const events = [{ type: 'user.message' as const, content: [{ type: 'text' as const, text }] }];
    const { sessionId, workspaceId } = this.#state;
    const decision = decideSend(
      this.#state,
      { type: 'send-events', workspaceId, idempotency: null, sessionId, events },
      { now: this.#log.clock.now(), newId: () => this.#newId() },
    );
    if (decision.kind === 'refuse') throw new Error(decision.refusal.message);
    this.#add(decision.records);
  }

  /** Takes the lease; it stands in a commit of its own, for an epoch begins with it. */
  async claim(): Promise<void> {
    await this.flush();
    const incarnation = formatId('incarnation', new Uint8Array(16));
    const plan = claimRecords(this.#state, incarnation, limits, this.#log.clock.now(), () => this.#newId());
    this.#add(plan.records);
    await this.flush();
  }

  /** The model's answer to the open request; `tokens` is what it says the prompt has. */
  answer(blocks: ModelBlock[], tokens = 1_000): void {
    const calls = new Map(
      blocks.flatMap((block, index) =>
        block.type === 'tool_use'
          ? [[index, { kind: 'builtin', tool: 'bash', permission: 'allow', policy: 'always_allow' } as const] as const]
          : [],
      ),
    );
    this.#settle({
      type: 'responded',
      startId: this.#openRequest(),
      blocks,
      stopReason: calls.size > 0 ? 'tool_use' : 'end_turn',
      stopDetails: null,
      usage: { ...noTokens, inputTokens: tokens },
      eventIds: new Map(),
      calls,
    });
  }

  /** Answers the one open call. */
  result(text: string): void {
    const call = turnOf(this.#state.phase)?.calls.find((open) => !open.answered);
    if (!call) throw new Error('no call is open');
    const content = [{ type: 'text' as const, text }];
    const { eventId: toolUseId } = call;
    this.#settle({ type: 'tool-answered', toolUseId, isError: false, content, chars: text.length, hand: null });
  }

  summary(text: string): void {
    this.#settle({ type: 'compacted', startId: this.#openRequest(), summary: text, usage: noTokens });
  }

  get isCompacting(): boolean {
    return turnOf(this.#state.phase)?.request?.purpose === 'compaction';
  }

  /** Writes in order what was added; call it from time to time, for a commit is bounded. */
  async flush(): Promise<void> {
    while (this.#drafts.length > 0) {
      const records = this.#drafts.splice(0, mostRecordsOfCommit);
      const { workspaceId, seq, epoch } = this.#stored;
      const takesLease = records[0]?.kind === 'lease.taken' ? 1 : 0;
      const result = await this.#log.service.append({
        sessionId: this.#sessionId,
        workspaceId,
        epoch: (epoch + takesLease) as typeof epoch,
        expectedSeq: seq,
        records,
      });
      if (result.kind === 'conflict') throw new Error('somebody else writes into this session');
      this.#stored = await this.#read();
    }
    this.#state = this.#stored;
  }

  async #read(): Promise<SessionState> {
    const state = await this.#log.service.getState(this.#sessionId);
    if (!state) throw new Error(`${this.#sessionId} is gone`);
    return state;
  }

  #openRequest(): EventId {
    const request = turnOf(this.#state.phase)?.request;
    if (!request) throw new Error('no request is open');
    return request.startId;
  }

  #settle(outcome: Parameters<typeof settle>[1]): void {
    const plan: Plan = settle(this.#state, outcome, limits, this.#log.clock.now(), () => this.#newId());
    this.#add(plan.records);
  }

  #add(drafts: readonly SessionDraft[]): void {
    for (const draft of drafts) {
      const place = { threadId: null, seq: this.#state.seq + 1, time: this.#log.clock.now() };
      this.#state = evolveSession(this.#state, { ...draft, ...place } as unknown as SessionFoldRecord & LogRecord);
      this.#drafts.push(draft);
    }
  }

  #newId(): EventId {
    return formatId('event', this.#log.clock.randomBytes(16));
  }
}

/** A session of so many records that was compacted shortly before its end, as one of that length must have been. */
export async function writeLongSession(
  log: DataLog,
  sessionId: SessionId,
  records: number,
  roundsPerCommit = 30,
): Promise<void> {
  const writer = await HistoryWriter.begin(log, sessionId);
  writer.say('Message 0');
  await writer.claim();
  for (let round = 1; writer.length < records; round++) {
    const isNearEnd = writer.length > records - 120;
    writer.say(`Message ${round}: ${'what was asked '.repeat(10)}`);
    // A prompt that is nearly as large as the window is compacted before the next request.
    writer.answer(
      [{ type: 'text', text: `Answer ${round}. ${'What was said. '.repeat(20)}` }],
      isNearEnd ? 195_000 : 1_000,
    );
    if (writer.isCompacting) writer.summary('What happened so far, in short.');
    if (round % roundsPerCommit === 0) await writer.flush();
  }
  writer.answer([{ type: 'text', text: 'That was all.' }]);
  await writer.flush();
}

/** A session with that many tool results of that size. */
export async function writeLargeResults(
  log: DataLog,
  sessionId: SessionId,
  count: number,
  chars: number,
): Promise<void> {
  const writer = await HistoryWriter.begin(log, sessionId);
  writer.say('Show me large files.');
  await writer.claim();
  for (let i = 0; i < count; i++) {
    writer.answer([{ type: 'tool_use', id: `toolu_${i}`, name: 'bash', input: { command: 'cat large' } }]);
    writer.result(`${i} ${'large result '.repeat(Math.ceil(chars / 13))}`);
    await writer.flush();
  }
  writer.answer([{ type: 'text', text: 'That was all.' }]);
  await writer.flush();
}
