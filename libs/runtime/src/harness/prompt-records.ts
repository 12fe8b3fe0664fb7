/**
 * The records that a session's prompts are made of, kept from one turn to the next so that a wake reads only what came
 * since. A cache and nothing else: thrown away, it is read again from the log.
 */
import type { ContextPolicy, SessionState } from '@manyhands/core';
import type { SessionLog } from '@manyhands/ports';
import type { LogRecord, RecordKind, Seq, SessionAgent, SessionId, StreamId } from '@manyhands/protocol';
import { sessionStream } from '@manyhands/protocol';

/** Records of that many sessions are kept, up to that many characters of payload in all. */
const maxSessions = 1_000;
const maxCachedChars = 64 * 1024 * 1024;

export class PromptRecords {
  readonly records: LogRecord[] = [];
  /** Every record up to here that matters is in `records`. */
  upTo: Seq = 0 as Seq;
  chars = 0;
  readonly #kinds: ReadonlySet<RecordKind>;
  #agent: { seq: Seq; agent: SessionAgent } | null = null;

  constructor(kinds: readonly RecordKind[]) {
    this.#kinds = new Set(kinds);
  }

  add(record: LogRecord): void {
    if (record.seq <= this.upTo) return;
    this.upTo = record.seq;
    if (record.kind === 'context.compacted') this.#dropBefore(record.facets.throughSeq);
    if (!this.#kinds.has(record.kind)) return;
    this.records.push(record);
    this.chars += charsOf(record);
  }

  /** A message that still waits stays: the record that takes it comes after the summary. */
  #dropBefore(throughSeq: Seq): void {
    const kept = this.records.filter((record) => record.seq > throughSeq || isInput(record));
    this.records.splice(0, this.records.length, ...kept);
    this.chars = kept.reduce((sum, record) => sum + charsOf(record), 0);
  }

  /** Reads what the log has up to the state's seq and this has not. */
  async catchUp(log: SessionLog, state: SessionState): Promise<void> {
    const stream = sessionStream(state.sessionId);
    if (this.upTo < state.context.compactedThrough) {
      this.records.length = 0;
      this.chars = 0;
      await this.#readQueued(log, stream, state);
      this.upTo = state.context.compactedThrough;
    }
    const kinds = [...this.#kinds];
    while (this.upTo < state.seq) {
      const page = await log.getEvents(stream, { after: this.upTo, upTo: state.seq, kinds });
      for (const record of page.records) this.add(record);
      if (page.complete) this.upTo = Math.max(this.upTo, state.seq) as Seq;
    }
  }

  /** Inputs written before the summary's last seq and taken after it. */
  async #readQueued(log: SessionLog, stream: StreamId, state: SessionState): Promise<void> {
    const { compactedThrough, summarySeq } = state.context;
    const page = await log.getEvents(stream, { after: compactedThrough, upTo: state.seq, kinds: ['input.taken'] });
    const waiting = page.records.flatMap((record) => (record.kind === 'input.taken' ? record.facets.seqs : []));
    const early = [...waiting, ...state.queue.map((input) => input.seq)].filter((seq) => seq <= compactedThrough);
    for (const seq of early.filter((candidate) => candidate < summarySeq)) {
      const { records } = await log.getEvents(stream, { after: (seq - 1) as Seq, upTo: seq });
      this.records.push(...records);
    }
  }

  /** The agent that the session runs with, at the seq where the state says it stands. */
  async agent(log: SessionLog, state: SessionState): Promise<SessionAgent> {
    const seq = state.contents.agentSeq;
    if (this.#agent?.seq === seq) return this.#agent.agent;
    const page = await log.getEvents(sessionStream(state.sessionId), { after: (seq - 1) as Seq, upTo: seq });
    const record = page.records[0];
    const agent =
      record?.kind === 'session.created' || record?.kind === 'session.updated' ? record.payload.agent : undefined;
    if (!agent) throw new Error(`session ${state.sessionId} has no agent at seq ${seq}`);
    this.#agent = { seq, agent };
    return agent;
  }
}

function isInput(record: LogRecord): boolean {
  return record.kind === 'user.message' || record.kind === 'system.message';
}

function charsOf(record: LogRecord): number {
  switch (record.kind) {
    case 'user.message':
    case 'system.message':
    case 'agent.tool_result':
    case 'user.custom_tool_result':
      return record.facets.chars;
    case 'model.response':
      return record.payload.blocks.reduce(
        (sum, block) => sum + (typeof block.text === 'string' ? block.text.length : 500),
        0,
      );
    default:
      return 100;
  }
}

/** Least recently used first out. */
export class PromptCache {
  readonly #sessions = new Map<SessionId, PromptRecords>();
  readonly #policy: ContextPolicy;

  constructor(policy: ContextPolicy) {
    this.#policy = policy;
  }

  /** Hands the records over; they come back with `keep` when the turn is over. */
  take(sessionId: SessionId): PromptRecords {
    const found = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    return found ?? new PromptRecords(this.#policy.kinds);
  }

  keep(sessionId: SessionId, records: PromptRecords): void {
    this.#sessions.set(sessionId, records);
    let chars = 0;
    for (const kept of this.#sessions.values()) chars += kept.chars;
    for (const [oldest, kept] of this.#sessions) {
      if (this.#sessions.size <= maxSessions && chars <= maxCachedChars) break;
      this.#sessions.delete(oldest);
      chars -= kept.chars;
    }
  }

  forget(sessionId: SessionId): void {
    this.#sessions.delete(sessionId);
  }
}
