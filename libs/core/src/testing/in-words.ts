/** A record as a line that a spec can quote: its kind, and what of its facets matters to a reader. */
import type { EventId, SessionLogRecord, StopReasonFacet } from '@manyhands/protocol';

/** What the specs call the records of one session: messages by their text, calls by the model's id. */
export class Names {
  readonly #byId = new Map<EventId, string>();
  readonly #bySeq = new Map<number, string>();

  learn(record: SessionLogRecord): void {
    const name = nameOf(record);
    if (name === null) return;
    this.#byId.set(record.id, name);
    this.#bySeq.set(record.seq, name);
  }

  ofId(id: EventId): string {
    return this.#byId.get(id) ?? id;
  }

  ofSeq(seq: number): string {
    return this.#bySeq.get(seq) ?? `#${seq}`;
  }
}

function nameOf(record: SessionLogRecord): string | null {
  switch (record.kind) {
    case 'user.message':
    case 'system.message':
      return record.payload.content.map((block) => ('text' in block ? block.text : block.type)).join('');
    case 'user.interrupt':
      return 'interrupt';
    case 'agent.tool_use':
    case 'agent.custom_tool_use':
      return record.facets.callId;
    default:
      return null;
  }
}

export function inWords(record: SessionLogRecord, names: Names): string {
  const words = wordsOf(record, names).filter((word) => word !== undefined && word !== '');
  return [record.kind, ...words].join(' ');
}

function wordsOf(record: SessionLogRecord, names: Names): (string | undefined)[] {
  switch (record.kind) {
    case 'user.message':
    case 'system.message':
      return [names.ofId(record.id), record.facets.placed ? 'placed' : 'queued'];
    case 'user.interrupt':
      return [record.facets.ignored ? 'ignored' : record.facets.placed ? 'placed' : 'queued'];
    case 'user.tool_confirmation':
      return [names.ofId(record.facets.toolUseId), record.facets.result];
    case 'user.custom_tool_result':
    case 'agent.tool_result':
      return [
        names.ofId(record.facets.toolUseId),
        record.facets.cause,
        record.facets.isError && !record.facets.cause ? 'error' : '',
      ];
    case 'input.taken':
    case 'input.dropped':
      return record.facets.seqs.map((seq) => names.ofSeq(seq));
    case 'session.status_idle':
    case 'session.thread_status_idle':
      return stopWords(record.facets.stopReason, names);
    case 'session.status_terminated':
      return [record.facets.cause];
    case 'session.updated':
      return record.facets.changed;
    case 'session.error':
      return [record.facets.errorType, record.facets.retryStatus];
    case 'agent.tool_use':
      return [record.facets.callId, record.facets.tool ?? 'unknown', record.facets.permission];
    case 'agent.custom_tool_use':
      return [record.facets.callId];
    case 'span.model_request_start':
      return [record.facets.purpose === 'compaction' ? 'compaction' : ''];
    case 'span.model_request_end':
      return [record.facets.isError ? 'error' : 'ok', record.facets.tooLong ? 'too long' : ''];
    case 'model.response':
      return [record.facets.stopReason];
    case 'lease.taken':
      return [record.facets.incarnation];
    case 'hand.provisioned':
    case 'hand.lost':
    case 'hand.checkpointed':
    case 'hand.destroyed':
      return [String(record.facets.generation)];
    default:
      return [];
  }
}

function stopWords(stop: StopReasonFacet, names: Names): string[] {
  if (stop.type !== 'requires_action') return [stop.type];
  return [stop.type, ...stop.eventIds.map((id) => names.ofId(id))];
}
