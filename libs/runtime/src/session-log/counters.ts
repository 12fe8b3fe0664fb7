/** What the service counts, for whoever shows it. Plain numbers, read at any time. */
export interface SessionLogCounters {
  acceptedCommits: number;
  refusedCommits: number;
  /** Messages that are no commit of a known format, or lie in a partition that is not their stream's (L12). */
  refusedMessages: number;
  foldedRecords: number;
  /** Streams that the fold could not take further (L12). */
  brokenStreams: number;
  appends: number;
  appendConflicts: number;
  appendMsTotal: number;
  appendMsMax: number;
  /** Batches of the group commit, and how often one was sent again (L4). */
  batches: number;
  resentBatches: number;
  barriers: number;
  /** Longest fold of one transaction, in milliseconds. */
  foldMsMax: number;
  erasedSessions: number;
  /** Messages behind the end at the last question, over all partitions. */
  lag: number;
}

export function newCounters(): SessionLogCounters {
  return {
    acceptedCommits: 0,
    refusedCommits: 0,
    refusedMessages: 0,
    foldedRecords: 0,
    brokenStreams: 0,
    appends: 0,
    appendConflicts: 0,
    appendMsTotal: 0,
    appendMsMax: 0,
    batches: 0,
    resentBatches: 0,
    barriers: 0,
    foldMsMax: 0,
    erasedSessions: 0,
    lag: 0,
  };
}
