/**
 * A commit in the making: records are added one by one and folded at once, so that every rule that follows sees the
 * state that the ones before it leave.
 */
import type {
  EventId,
  Instant,
  RecordTypes,
  Seq,
  SessionDraft,
  SessionFoldRecord,
  SessionRecordKind,
} from '@manyhands/protocol';
import type { SessionState } from './state.ts';
import { evolveSession } from './evolve.ts';

export class Plan {
  readonly records: SessionDraft[] = [];
  readonly now: Instant;
  #state: SessionState;
  readonly #newId: () => EventId;

  constructor(state: SessionState, now: Instant, newId: () => EventId) {
    this.#state = state;
    this.now = Math.max(now, state.time) as Instant;
    this.#newId = newId;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The seq that the next record will have if the commit is accepted. */
  get nextSeq(): Seq {
    return (this.#state.seq + 1) as Seq;
  }

  /** Adds a record and folds it; returns its id. `id` is given for events whose id was shown before (previews). */
  add<K extends SessionRecordKind>(
    kind: K,
    facets: RecordTypes[K]['facets'],
    payload: RecordTypes[K]['payload'],
    id: EventId = this.#newId(),
  ): EventId {
    const draft = { kind, id, facets, payload } as unknown as SessionDraft;
    const record = {
      kind,
      id,
      facets,
      threadId: null,
      seq: this.nextSeq,
      time: this.now,
    } as unknown as SessionFoldRecord;
    this.#state = evolveSession(this.#state, record);
    this.records.push(draft);
    return id;
  }
}
