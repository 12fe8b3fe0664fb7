/**
 * Writes entries to the topic in groups: one append is in flight per partition leader, and whatever arrives meanwhile goes
 * into the next. No timer: an idle process writes at once, a busy one in larger groups.
 */
import { TopicError, type Topic, type TopicEntry } from '@manyhands/ports';
import type { SessionLogCounters } from '../counters.ts';

interface Waiting {
  entry: TopicEntry;
  resolve: () => void;
  reject: (cause: unknown) => void;
}

interface Line {
  waiting: Waiting[];
  isWriting: boolean;
}

/** One request's worth; Kafka's default limit of a request is 1 MiB a partition and its buffers are not endless. */
const maxGroupEntries = 512;
const maxGroupBytes = 4 * 1024 * 1024;
/** A log that is this far behind its writers is away, as far as they are concerned. */
const maxWaitingEntries = 10_000;

export interface GroupCommitOptions {
  topic: Topic;
  counters: SessionLogCounters;
  /** Is told how each write ended; null when it is durable. */
  onWritten?: (failure: unknown) => void;
  /** Names the leader of an entry's partition; without it all have one. */
  leaderOf?: (entry: TopicEntry) => string;
}

export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #lines = new Map<string, Line>();

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Resolves when the entry is durable; rejects with the topic's error, after which it may or may not be. */
  append(entry: TopicEntry): Promise<void> {
    const leader = this.#options.leaderOf?.(entry) ?? '';
    let line = this.#lines.get(leader);
    if (!line) this.#lines.set(leader, (line = { waiting: [], isWriting: false }));
    const written = line;
    if (written.waiting.length >= maxWaitingEntries) {
      return Promise.reject(new TopicError('unavailable', 'too many writes wait for the log'));
    }
    return new Promise((resolve, reject) => {
      written.waiting.push({ entry, resolve, reject });
      if (!written.isWriting) void this.#write(written);
    });
  }

  async #write(line: Line): Promise<void> {
    const { topic, counters, onWritten } = this.#options;
    line.isWriting = true;
    // What is asked for in this same turn of the event loop still gets into the first group.
    await Promise.resolve();
    while (line.waiting.length > 0) {
      const group = takeGroup(line.waiting);
      counters.batches++;
      try {
        await topic.append(group.map(({ entry }) => entry));
        onWritten?.(null);
        for (const { resolve } of group) resolve();
      } catch (cause) {
        onWritten?.(cause);
        for (const { reject } of group) reject(cause);
      }
    }
    line.isWriting = false;
  }
}

function takeGroup(waiting: Waiting[]): Waiting[] {
  let bytes = 0;
  let count = 0;
  while (count < waiting.length && count < maxGroupEntries) {
    bytes += waiting[count]?.entry.value?.length ?? 0;
    if (count > 0 && bytes > maxGroupBytes) break;
    count++;
  }
  return waiting.splice(0, count);
}
