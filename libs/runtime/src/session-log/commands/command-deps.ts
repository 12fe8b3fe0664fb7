/** What the handlers of commands share: each reads what it needs beside the state, and lets the core decide. */
import type { SessionContents, SessionState } from '@manyhands/core';
import type { DefaultEffort, ErrorCode, EventId, Instant, RecordDraft, Refusal } from '@manyhands/protocol';
import type { Copy } from '../copy/copy.ts';
import type { StreamRow } from '../copy/stream-rows.ts';
import type { States } from '../fold/states.ts';
import type { LogReader } from '../read/log-reader.ts';

export type CommandDecision = { kind: 'write'; records: readonly RecordDraft[] } | { kind: 'refuse'; refusal: Refusal };

export interface CommandDeps {
  copy: Copy;
  states: States;
  reader: LogReader;
  now: () => Instant;
  newId: () => EventId;
  randomBytes: (length: number) => Uint8Array;
  defaultEffort: DefaultEffort;
  contentsOf: (row: StreamRow, state: SessionState) => Promise<SessionContents>;
}

export function notFound(what: string, code: ErrorCode = 'not_found'): CommandDecision {
  return { kind: 'refuse', refusal: { code, message: `There is no ${what} with this id.` } };
}

/** Where a decision stood: the commit expects the stream to be there still. */
export type Row = StreamRow | null;
