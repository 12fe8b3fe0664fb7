/** What a session's object shows and the fold does not know: title, metadata and agent, from the records that hold them. */
import type { SessionContents, SessionState } from '@manyhands/core';
import { SessionLogError } from '@manyhands/ports';
import type { LogRecord, Seq } from '@manyhands/protocol';

export function contentSeqs(state: SessionState): Seq[] {
  const { titleSeq, metadataSeq, agentSeq } = state.contents;
  return [...new Set([titleSeq, metadataSeq, agentSeq])];
}

export function contentsFrom(state: SessionState, records: readonly LogRecord[]): SessionContents {
  const { titleSeq, metadataSeq, agentSeq } = state.contents;
  const agent = holder(records, agentSeq)?.payload.agent;
  if (!agent) throw new SessionLogError('stream-broken', `the agent of ${state.sessionId} is not where its state says`);
  return {
    title: holder(records, titleSeq)?.payload.title ?? null,
    metadata: holder(records, metadataSeq)?.payload.metadata ?? {},
    agent,
  };
}

function holder(records: readonly LogRecord[], seq: Seq): LogRecord<'session.created' | 'session.updated'> | null {
  const record = records.find((one) => one.seq === seq);
  return record?.kind === 'session.created' || record?.kind === 'session.updated' ? record : null;
}
