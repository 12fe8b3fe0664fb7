/** Replicas of the session log over one topic in memory, for specs: what a crash leaves is the topic, the blobs and the keys. */
import { silentLogger, type BlobStore, type Clock } from '@manyhands/ports';
import { MemoryBlobStore, MemoryKeyService, MemoryTopic, type MemoryTopicHooks } from '@manyhands/ports/testing';
import { SessionLogService, type SessionLogServiceOptions } from '../session-log/session-log-service.ts';

export class LogReplicas {
  readonly topic: MemoryTopic;
  readonly blobs: BlobStore = new MemoryBlobStore();
  readonly keys = new MemoryKeyService();
  readonly clock: Clock;
  readonly #running = new Set<SessionLogService>();

  constructor(clock: Clock, hooks: Partial<MemoryTopicHooks> = {}) {
    this.clock = clock;
    this.topic = new MemoryTopic({ now: () => clock.now(), ...hooks }, { defaultPartitions: 3 });
  }

  async start(changes: Partial<SessionLogServiceOptions> = {}): Promise<SessionLogService> {
    const service = new SessionLogService({
      topic: this.topic,
      blobs: this.blobs,
      keys: this.keys,
      clock: this.clock,
      logger: silentLogger,
      copyPath: ':memory:',
      keysPath: ':memory:',
      readerThreads: 0,
      defaultEffort: () => 'medium',
      ...changes,
    });
    this.#running.add(service);
    await service.start();
    return service;
  }

  async stop(service: SessionLogService): Promise<void> {
    this.#running.delete(service);
    await service.stop();
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((service) => this.stop(service)));
  }
}
