/**
 * Faults planted in the platform itself, by wrapping what it stands on: each takes one rule of the log away, and the
 * simulation must notice.
 */
import { accept, emptyHead } from '@manyhands/core';
import type { StreamHead } from '@manyhands/core';
import type { AppendResult, HolderCommit, SessionLog, Topic, TopicMessage } from '@manyhands/ports';
import { decodeCommit, encodeCommit } from '@manyhands/protocol';
import type { Commit, CommitId, Epoch, Offset, StreamId } from '@manyhands/protocol';

export interface Mutant {
  name: string;
  /** Between a node and its topic. */
  topic?: (topic: Topic) => Topic;
  /** Between a worker and its session log. */
  log?: (log: SessionLog) => SessionLog;
}

export const noMutant: Mutant = { name: 'none' };

/** A node that reads every commit as this says, so that its own acceptance lets through what it should refuse. */
function reading(change: (commit: Commit, head: StreamHead) => Commit): (topic: Topic) => Topic {
  return (topic) => {
    const rewrite = new Rewriter(change);
    return overTopic(topic, {
      tail: async function* (from, signal) {
        for await (const batch of topic.tail(from, signal)) yield batch.map((message) => rewrite.message(message));
      },
    });
  };
}

class Rewriter {
  readonly #heads = new Map<StreamId, StreamHead>();
  readonly #change: (commit: Commit, head: StreamHead) => Commit;

  constructor(change: (commit: Commit, head: StreamHead) => Commit) {
    this.#change = change;
  }

  message(message: TopicMessage): TopicMessage {
    const commit = message.value ? decodeCommit(message.value) : null;
    if (!commit) return message;
    const head = this.#heads.get(commit.streamId) ?? emptyHead;
    const changed = this.#change(commit, head);
    const verdict = accept(head, changed, message.appendedAt);
    if (verdict.accepted) this.#heads.set(commit.streamId, verdict.head);
    return { ...message, value: encodeCommit(changed) };
  }
}

export const noEpochCheck: Mutant = {
  name: 'no epoch check',
  topic: reading((commit, head) => {
    const takesLease = commit.records.some((record) => record.kind === 'lease.taken');
    return { ...commit, epoch: (head.epoch + (takesLease ? 1 : 0)) as Epoch };
  }),
};

export const noSeqCheck: Mutant = {
  name: 'no seq check',
  topic: reading((commit, head) => ({ ...commit, expectedSeq: head.seq })),
};

/** A holder that meets a higher epoch and goes on under it. */
export const adoptedEpoch: Mutant = {
  name: 'a holder that adopts the epoch of a conflict',
  log: (log) => ({
    getState: (sessionId) => log.getState(sessionId),
    getEvents: (streamId, slice) => log.getEvents(streamId, slice),
    tail: (streamId, after, signal) => log.tail(streamId, after, signal),
    runnable: (query) => log.runnable(query),
    onRunnable: (listener) => log.onRunnable(listener),
    append: async (commit: HolderCommit): Promise<AppendResult> => {
      const first = await log.append(commit);
      const takesLease = commit.records.some((record) => record.kind === 'lease.taken');
      if (takesLease || first.kind === 'accepted' || first.epoch <= commit.epoch) return first;
      return log.append({ ...commit, epoch: first.epoch, expectedSeq: first.headSeq });
    },
  }),
};

export const noBarrier: Mutant = {
  name: 'no barrier',
  topic: (topic) =>
    overTopic(topic, { endOffsets: async (of) => of.map((partition) => ({ ...partition, offset: 0 as Offset })) }),
};

/**
 * An appender that takes the verdict on a later copy for the answer: the first of two copies comes under another id, so
 * that the one it waits for is the one that is refused.
 */
export const lastCopy: Mutant = {
  name: 'an appender that believes the last copy',
  topic: (topic) =>
    overTopic(topic, {
      tail: async function* (from, signal) {
        for await (const batch of topic.tail(from, signal)) {
          const ahead = await readAhead(topic, batch);
          yield batch.map((message, at) => asFirstCopy(message, [...batch.slice(at + 1), ...ahead]));
        }
      },
    }),
};

/** What lies behind a batch in its partitions by now. */
async function readAhead(topic: Topic, batch: readonly TopicMessage[]): Promise<TopicMessage[]> {
  const ahead: TopicMessage[] = [];
  for (const { topic: name, partition } of batch) {
    if (ahead.some((message) => message.topic === name && message.partition === partition)) continue;
    const last = batch.findLast((message) => message.topic === name && message.partition === partition);
    const offset = ((last?.offset ?? 0) + 1) as Offset;
    ahead.push(...(await topic.read({ topic: name, partition, offset }, 10_000_000)));
  }
  return ahead;
}

function asFirstCopy(message: TopicMessage, later: readonly TopicMessage[]): TopicMessage {
  const commit = message.value ? decodeCommit(message.value) : null;
  const isCopied = later.some((other) => other.value && decodeCommit(other.value)?.commitId === commit?.commitId);
  if (!commit || !isCopied) return message;
  return { ...message, value: encodeCommit({ ...commit, commitId: `${commit.commitId}x` as CommitId }) };
}

function overTopic(topic: Topic, changes: Partial<Topic>): Topic {
  return {
    partitionsOf: (name) => topic.partitionsOf(name),
    append: (entries) => topic.append(entries),
    read: (from, maxBytes) => topic.read(from, maxBytes),
    startOffset: (of) => topic.startOffset(of),
    endOffsets: (of) => topic.endOffsets(of),
    tail: (from, signal) => topic.tail(from, signal),
    ...changes,
  };
}
