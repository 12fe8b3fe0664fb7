/** The log as an observer beside the topic reads it at once: what it says at the moment when something happens outside. */
import { accept, emptyHead, evolveSession } from '@manyhands/core';
import type { SessionState, StreamHead } from '@manyhands/core';
import type { MemoryTopic } from '@manyhands/ports/testing';
import { decodeCommit, isSessionStream, topics } from '@manyhands/protocol';
import type {
  Commit,
  Epoch,
  EventId,
  Incarnation,
  Instant,
  Seq,
  SessionFoldRecord,
  SessionId,
  StreamId,
} from '@manyhands/protocol';

export class Oracle {
  readonly #topic: MemoryTopic;
  readonly #read = new Map<number, number>();
  readonly #heads = new Map<StreamId, StreamHead>();
  readonly #states = new Map<StreamId, SessionState>();
  readonly #answers = new Map<EventId, { time: Instant; epoch: Epoch }>();

  constructor(topic: MemoryTopic) {
    this.#topic = topic;
  }

  /** null when it was never created, or cannot be folded. */
  state(sessionId: SessionId): SessionState | null {
    this.#catchUp();
    return this.#states.get(sessionId as string as StreamId) ?? null;
  }

  /** When the log said that a call was answered, and the epoch it said so under; null while it does not. */
  answerTo(call: EventId): { time: Instant; epoch: Epoch } | null {
    this.#catchUp();
    return this.#answers.get(call) ?? null;
  }

  sessions(): SessionState[] {
    this.#catchUp();
    return [...this.#states.values()];
  }

  #catchUp(): void {
    for (let partition = 0; partition < this.#topic.partitionsOf(topics.sessions); partition++) {
      const messages = this.#topic.messages({ topic: topics.sessions, partition });
      for (let at = this.#read.get(partition) ?? 0; at < messages.length; at++) {
        const message = messages[at];
        const commit = message?.value ? decodeCommit(message.value) : null;
        if (commit && message && isSessionStream(commit.streamId)) this.#take(commit, message.appendedAt);
      }
      this.#read.set(partition, messages.length);
    }
  }

  #take(commit: Commit, appendedAt: Instant): void {
    const verdict = accept(this.#heads.get(commit.streamId) ?? emptyHead, commit, appendedAt);
    if (!verdict.accepted) return;
    this.#heads.set(commit.streamId, verdict.head);
    let state = this.#states.get(commit.streamId) ?? null;
    commit.records.forEach(({ id, kind, facets }, index) => {
      const seq = (verdict.firstSeq + index) as Seq;
      const record = { id, kind, facets, threadId: null, seq, time: verdict.head.time } as unknown as SessionFoldRecord;
      state = evolveSession(state, record);
      if (record.kind === 'agent.tool_result') {
        this.#answers.set(record.facets.toolUseId, { time: appendedAt, epoch: commit.epoch });
      }
    });
    if (state) this.#states.set(commit.streamId, state);
  }
}

/** Which worker wanted which record written: the log itself does not tell. */
export class Writers {
  readonly #byRecord = new Map<EventId, Incarnation>();

  wrote(records: readonly { id: EventId }[], incarnation: Incarnation): void {
    for (const { id } of records) this.#byRecord.set(id, incarnation);
  }

  of(record: EventId): Incarnation | null {
    return this.#byRecord.get(record) ?? null;
  }
}
