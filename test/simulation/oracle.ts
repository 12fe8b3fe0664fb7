/** The log as an observer beside the topic reads it at once: what it says at the moment when something happens outside. */
import { accept, emptyHead, evolveSession, turnOf } from '@manyhands/core';
import type { SessionState, StreamHead } from '@manyhands/core';
import type { MemoryTopic } from '@manyhands/ports/testing';
import { decodeCommit, isSessionStream, topics } from '@manyhands/protocol';
import type { Commit, EventId, Incarnation, Seq, SessionFoldRecord, SessionId, StreamId } from '@manyhands/protocol';

export class Oracle {
  readonly #topic: MemoryTopic;
  readonly #read = new Map<number, number>();
  readonly #heads = new Map<StreamId, StreamHead>();
  readonly #states = new Map<StreamId, SessionState>();

  constructor(topic: MemoryTopic) {
    this.#topic = topic;
  }

  /** null when it was never created, or cannot be folded. */
  state(sessionId: SessionId): SessionState | null {
    this.#catchUp();
    return this.#states.get(sessionId as string as StreamId) ?? null;
  }

  isAnswered(sessionId: SessionId, call: EventId): boolean {
    const state = this.state(sessionId);
    if (!state) return false;
    const open = turnOf(state.phase)?.calls.find((candidate) => candidate.eventId === call);
    return !open || open.answered;
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

  #take(commit: Commit, appendedAt: SessionState['time']): void {
    const verdict = accept(this.#heads.get(commit.streamId) ?? emptyHead, commit, appendedAt);
    if (!verdict.accepted) return;
    this.#heads.set(commit.streamId, verdict.head);
    let state = this.#states.get(commit.streamId) ?? null;
    commit.records.forEach(({ id, kind, facets }, index) => {
      const seq = (verdict.firstSeq + index) as Seq;
      const record = { id, kind, facets, threadId: null, seq, time: verdict.head.time } as unknown as SessionFoldRecord;
      state = evolveSession(state, record);
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
