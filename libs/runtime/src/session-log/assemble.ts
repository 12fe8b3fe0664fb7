/** Puts the parts of the session log together; each takes the few others that it needs. */
import type { RunnableRow, TopicPartition } from '@manyhands/ports';
import { partitionOf, topicOf, topics, type EventId, type StreamId } from '@manyhands/protocol';
import { CatchUp } from './catch-up.ts';
import { CommandRunner } from './commands/command-runner.ts';
import { Copy } from './copy/copy.ts';
import { inMemory } from './copy/copy-file.ts';
import { newCounters } from './counters.ts';
import { Eraser } from './erase/eraser.ts';
import { Barrier } from './fold/barrier.ts';
import { Fold, type FoldEffects } from './fold/fold.ts';
import { Replica } from './fold/replica.ts';
import { States } from './fold/states.ts';
import { StreamSignals } from './fold/stream-signals.ts';
import { InlineReads } from './read/copy-reader.ts';
import { LogReader } from './read/log-reader.ts';
import { ReaderPool } from './read/reader-pool.ts';
import { ResourceObjects } from './read/resource-objects.ts';
import { SessionEvents } from './read/session-events.ts';
import { SessionObjects } from './read/session-objects.ts';
import { Tails } from './read/tails.ts';
import type { SessionLogServiceOptions } from './session-log-service.ts';
import { Appender } from './write/appender.ts';
import { DataKeys } from './write/data-keys.ts';
import { GroupCommit } from './write/group-commit.ts';
import { KeyFile } from './write/key-file.ts';
import { KeyReplica } from './write/key-replica.ts';
import { WriteHealth } from './write/write-health.ts';

export type AssembleOptions = Required<SessionLogServiceOptions> & { newId: () => EventId };
export type SessionLogParts = ReturnType<typeof assemble>;

export function assemble(options: AssembleOptions) {
  const { topic, clock, logger, blobs } = options;
  const partitionsOf = (name: TopicPartition['topic']): number => topic.partitionsOf(name);
  const counters = newCounters();
  const copy = new Copy(options.copyPath, { partitions: countsOf(partitionsOf), log: topic.identity ?? '' }, logger);
  const keyFile = new KeyFile(options.keysPath);
  const signals = new StreamSignals();
  const runnableListeners = new Set<(row: RunnableRow) => void>();
  const fold = new Fold({
    copy,
    foldVersion: options.foldVersion,
    takeover: options.takeover,
    partitionsOf,
    counters,
    logger,
  });

  const tellRunnable = (row: RunnableRow): void => {
    for (const listener of [...runnableListeners]) {
      try {
        listener(row);
      } catch (cause) {
        // Whoever listens is outside of the log; the row stays, and the sweep finds it.
        logger.error({ sessionId: row.sessionId, cause: String(cause) }, 'a listener for runnable sessions failed');
      }
    }
  };
  const onEffects = (effects: FoldEffects): void => {
    for (const row of effects.runnable) tellRunnable(row);
    for (const streamId of effects.deleted) events.forget(streamId);
    if (effects.deleted.length > 0) eraser.deleted();
    // Followers read what is new, all of them at once. Whoever wrote it, or is to run it, goes on before them.
    if (effects.streams.size > 0) void clock.sleep(0).then(() => signals.notify(effects.streams));
  };
  const commitPartitions = allPartitions([topics.sessions, topics.resources], partitionsOf);
  const replica = new Replica({ topic, clock, logger, copy, fold, partitions: commitPartitions, counters, onEffects });
  const keyReplica = new KeyReplica({
    topic,
    clock,
    logger,
    file: keyFile,
    partitions: allPartitions([topics.keys], partitionsOf),
    onFolded: (streamId) => keys.folded(streamId),
  });

  const stoppedBecause = (partition: TopicPartition): string | null => replica.stoppedBecause(partition);
  const barrier = new Barrier({ topic, clock, counters, positions: replica.positions, stoppedBecause });
  const keyBarrier = new Barrier({
    topic,
    clock,
    counters,
    positions: keyReplica.positions,
    stoppedBecause: () => keyReplica.stoppedBecause(),
  });

  const writeHealth = new WriteHealth(clock, logger);
  const groups = new GroupCommit({ topic, counters, onWritten: (failure) => writeHealth.written(failure) });
  const passKeyBarrier = (partitions: readonly TopicPartition[]): Promise<void> => keyBarrier.pass(partitions);
  const keys = new DataKeys({
    topic,
    clock,
    service: options.keys,
    file: keyFile,
    groups,
    passBarrier: passKeyBarrier,
  });
  const randomBytes = (length: number): Uint8Array => clock.randomBytes(length);
  const appender = new Appender({ topic, clock, fold, replica, keys, groups, seal: { blobs, randomBytes }, counters });

  const inline = new InlineReads(copy.db);
  const isThreaded = options.readerThreads > 0 && options.copyPath !== inMemory;
  const pool = isThreaded ? new ReaderPool(options.copyPath, options.readerThreads, logger) : inline;
  const reader = new LogReader({ copy, inline, pool, keys, blobs });
  const states = new States(fold, replica);
  const events = new SessionEvents(reader);
  const sessions = new SessionObjects({ copy, states, reader, clock });
  const resources = new ResourceObjects({ copy, states, reader });
  const tails = new Tails({ fold, signals, reader, events });

  const passBarrier = (streamId: StreamId): Promise<void> => {
    const name = topicOf(streamId);
    return barrier.pass([{ topic: name, partition: partitionOf(streamId, partitionsOf(name)) }]);
  };
  const commands = new CommandRunner({
    copy,
    states,
    reader,
    appender,
    passBarrier,
    randomBytes,
    now: () => clock.now(),
    newId: options.newId,
    defaultEffort: options.defaultEffort,
    contentsOf: (row, state) => sessions.contentsOf(row, state),
  });
  const eraser = new Eraser({
    copy,
    fold,
    keys,
    appender,
    blobs,
    clock,
    logger,
    counters,
    newId: options.newId,
    passKeyBarrier: (streamId) => keyBarrier.pass([keys.partitionOf(streamId)]),
    eraseElsewhere: options.eraseElsewhere,
  });
  const catchUp = new CatchUp({ copy, fold, replica, clock, logger, foldVersion: options.foldVersion, counters });
  const onRunnable = (listener: (row: RunnableRow) => void): (() => void) => {
    runnableListeners.add(listener);
    return () => runnableListeners.delete(listener);
  };
  return {
    counters,
    copy,
    keyFile,
    fold,
    replica,
    keyReplica,
    barrier,
    keyBarrier,
    appender,
    pool,
    reader,
    states,
    events,
    sessions,
    resources,
    tails,
    commands,
    eraser,
    catchUp,
    onRunnable,
  };
}

function allPartitions(
  names: TopicPartition['topic'][],
  partitionsOf: (name: TopicPartition['topic']) => number,
): TopicPartition[] {
  return names.flatMap((topic) =>
    Array.from({ length: partitionsOf(topic) }, (_, partition) => ({ topic, partition })),
  );
}

/** L9: another count of partitions is another log. */
function countsOf(partitionsOf: (name: TopicPartition['topic']) => number): string {
  return [topics.sessions, topics.resources].map((name) => `${name}:${partitionsOf(name)}`).join(' ');
}
