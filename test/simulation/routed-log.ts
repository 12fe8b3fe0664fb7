/**
 * The session log as a worker reaches it: its own node's replica, or another one's, over a line that takes time and ends
 * when the other side dies. Calls back for runnable sessions may be lost.
 */
import type { SessionState } from '@manyhands/core';
import type { AppendResult, EventPage, EventSlice, HolderCommit, RunnableRow, SessionLog } from '@manyhands/ports';
import { SessionLogError } from '@manyhands/ports';
import type { Instant, LogRecord, Seq, SessionId, StreamId } from '@manyhands/protocol';
import type { Chance } from './chance.ts';
import type { SimNode } from './node.ts';
import type { World } from './world.ts';

/** After this time a caller no longer believes in an answer, in milliseconds. */
const callTimeoutMs = 10_000;

export class RoutedLog implements SessionLog {
  readonly #world: World;
  readonly #self: SimNode;
  readonly #chance: Chance;

  constructor(world: World, self: SimNode, chance: Chance) {
    this.#world = world;
    this.#self = self;
    this.#chance = chance;
  }

  append(commit: HolderCommit): Promise<AppendResult> {
    this.#world.writers.wrote(commit.records, this.#self.incarnation);
    return this.#call((service) => service.append(commit));
  }

  getState(sessionId: SessionId): Promise<SessionState | null> {
    return this.#call((service) => service.getState(sessionId));
  }

  getEvents(streamId: StreamId, slice: EventSlice): Promise<EventPage> {
    return this.#call((service) => service.getEvents(streamId, slice));
  }

  runnable(query: { dueAt: Instant; limit: number }): Promise<RunnableRow[]> {
    return this.#call((service) => service.runnable(query));
  }

  async *tail(streamId: StreamId, after: Seq, signal: AbortSignal): AsyncIterable<readonly LogRecord[]> {
    const node = this.#route();
    const records = node.service.tail(streamId, after, signal)[Symbol.asyncIterator]();
    for (;;) {
      const next = await orDeath(records.next(), node);
      await this.#self.process.gate();
      if (next.done || signal.aborted) return;
      yield next.value;
    }
  }

  onRunnable(listener: (row: RunnableRow) => void): () => void {
    return this.#self.service.onRunnable((row) => {
      if (this.#chance.happens(this.#world.plan.lostWakes)) return;
      // At once, as within one process, or later, as between two.
      if (this.#chance.happens(0.5)) listener(row);
      else void this.#self.process.gate().then(() => listener(row));
    });
  }

  async #call<T>(ask: (service: SimNode['service']) => Promise<T>): Promise<T> {
    const { process } = this.#self;
    const node = this.#route();
    await process.gate();
    const answer = node === this.#self ? ask(node.service) : this.#askFar(node, ask);
    try {
      return await answer;
    } finally {
      await process.gate();
    }
  }

  async #askFar<T>(node: SimNode, ask: (service: SimNode['service']) => Promise<T>): Promise<T> {
    const asked = node.process.gate().then(() => ask(node.service));
    const late = this.#world.scheduler.pause(callTimeoutMs).then(() => {
      throw new SessionLogError('unavailable', 'no answer in time');
    });
    return orDeath(Promise.race([asked, late]), node);
  }

  #route(): SimNode {
    if (!this.#chance.happens(this.#world.plan.farCalls)) return this.#self;
    const others = this.#world.readyNodes();
    return others.length === 0 ? this.#self : this.#chance.pick(others);
  }
}

function orDeath<T>(answer: Promise<T>, node: SimNode): Promise<T> {
  const death = node.process.died.then(() => {
    throw new SessionLogError('unavailable', `${node.process.name} died`);
  });
  return Promise.race([answer, death]);
}
