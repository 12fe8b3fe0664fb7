/**
 * A session under our lease: the state at the last record we have folded, and the records that its prompts are made of.
 *
 * Own commits are folded when they are accepted, others' through the tail; the tail brings the own ones again, which are
 * then below the state's seq and left out.
 */
import type { SessionState } from '@manyhands/core';
import { evolveSession } from '@manyhands/core';
import type { AppendResult, SessionLog } from '@manyhands/ports';
import type {
  Epoch,
  Instant,
  LogRecord,
  Seq,
  SessionDraft,
  SessionFoldRecord,
  SessionLogRecord,
} from '@manyhands/protocol';
import { sessionStream } from '@manyhands/protocol';
import type { PromptRecords } from './prompt-records.ts';

export type Append = { kind: 'accepted' } | { kind: 'conflict' } | { kind: 'fenced' };

export class HeldSession {
  state: SessionState;
  readonly epoch: Epoch;
  readonly prompt: PromptRecords;
  readonly #log: SessionLog;

  constructor(state: SessionState, prompt: PromptRecords, log: SessionLog) {
    this.state = state;
    this.epoch = state.epoch;
    this.prompt = prompt;
    this.#log = log;
  }

  /** Whether someone else took the session (L3). */
  get isFenced(): boolean {
    return this.state.epoch > this.epoch;
  }

  /** Appends with the lease's own epoch, never an adopted one, and folds what was accepted. */
  async append(records: readonly SessionDraft[]): Promise<Append> {
    const { sessionId, workspaceId, seq } = this.state;
    const result = await this.#log.append({ sessionId, workspaceId, epoch: this.epoch, expectedSeq: seq, records });
    if (result.kind === 'conflict') return { kind: result.epoch > this.epoch ? 'fenced' : 'conflict' };
    this.#foldOwn(records, result);
    return { kind: 'accepted' };
  }

  #foldOwn(records: readonly SessionDraft[], result: AppendResult & { kind: 'accepted' }): void {
    const folded = foldAccepted(this.state, records, result.firstSeq, result.time);
    this.state = folded.state;
    for (const record of folded.records) this.prompt.add(record);
  }

  foldTail(records: readonly LogRecord[]): void {
    for (const record of records) {
      if (record.seq <= this.state.seq) continue;
      this.state = evolveSession(this.state, record as SessionFoldRecord);
      this.prompt.add(record);
    }
  }
}

/** The state after our own accepted records, and these as the log holds them. */
export function foldAccepted(
  before: SessionState,
  drafts: readonly SessionDraft[],
  firstSeq: Seq,
  time: Instant,
): { state: SessionState; records: SessionLogRecord[] } {
  let state = before;
  const records = drafts.map((draft, index) => {
    const record = {
      kind: draft.kind,
      id: draft.id,
      threadId: draft.threadId ?? null,
      facets: draft.facets,
      payload: draft.payload,
      seq: (firstSeq + index) as Seq,
      time,
      streamId: sessionStream(before.sessionId),
    } as SessionLogRecord;
    state = evolveSession(state, record);
    return record;
  });
  return { state, records };
}
