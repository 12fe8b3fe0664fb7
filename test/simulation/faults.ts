/** What goes wrong with processes and hands while the clients play, and how all is made well at the end. */
import { commitFormat, encodeCommit, formatId, partitionOf, sessionStream, topics } from '@manyhands/protocol';
import type { Commit, Epoch, EventId, Instant, KeyId } from '@manyhands/protocol';
import type { Chance } from './chance.ts';
import type { SimNode } from './node.ts';
import type { SimProcess } from './process.ts';
import type { World } from './world.ts';

/** What a ghost writes; no history may hold it. */
export const ghostId = 'sevt_ghost' as EventId;

/** A stopped process is taken for dead by the others after this time, in milliseconds. */
const silenceMs = 3_000;

export class Faults {
  readonly #world: World;
  readonly #chance: Chance;
  #isOver = false;
  #left: number;
  #gatesToNext: number;

  constructor(world: World, chance: Chance) {
    this.#world = world;
    this.#chance = chance;
    this.#left = world.plan.faults;
    this.#gatesToNext = this.#nextGate();
  }

  async play(): Promise<void> {
    const { scheduler, plan } = this.#world;
    while (this.#left > 0 && !this.#isOver) {
      await scheduler.pause(this.#chance.between(1, 2 * plan.faultEveryMs));
      if (!this.#isOver) this.#strike();
    }
  }

  /** Between two steps of a process, whatever it is about to do: time alone would mostly strike while it sleeps. */
  atGate(process: SimProcess): void {
    if (this.#left <= 0 || this.#isOver || --this.#gatesToNext > 0) return;
    this.#gatesToNext = this.#nextGate();
    const node = this.#world.nodes.find((candidate) => candidate.process === process);
    if (!node) return;
    this.#left--;
    if (this.#chance.happens(0.5)) this.#crash(node);
    else this.#stop(node);
  }

  #nextGate(): number {
    return this.#chance.between(1, this.#chance.happens(0.5) ? 40 : 400);
  }

  /** Nothing goes wrong any more. */
  end(): void {
    this.#isOver = true;
    for (const node of this.#world.nodes) {
      node.process.continue();
      node.process.slowness = 1;
    }
  }

  #strike(): void {
    const { nodes, hands } = this.#world;
    this.#left--;
    const kind = this.#chance.number();
    const node = nodes.length > 0 ? this.#chance.pick(nodes) : null;
    if (kind < 0.15) {
      const alive = hands.alive();
      if (alive.length > 0) hands.kill(this.#chance.pick(alive));
    } else if (!node) return;
    else if (kind < 0.25) void this.#haunt();
    else if (kind < 0.5) this.#crash(node);
    else if (kind < 0.75) this.#stop(node);
    else if (kind < 0.85) this.#suspect(node);
    else if (kind < 0.95) this.#slowDown(node);
    else this.#drain(node);
  }

  #crash(node: SimNode): void {
    this.#world.trace('fault', `${node.process.name} crashes`);
    this.#world.crash(node, () => this.#chance.between(0, 3_000));
    this.#startAgain();
  }

  #startAgain(): void {
    void this.#world.scheduler.pause(this.#chance.between(0, 2_000)).then(() => this.#world.startNode());
  }

  /** It goes on later as if nothing had been: its lease may be another's by then. */
  #stop(node: SimNode): void {
    const { scheduler } = this.#world;
    this.#world.trace('fault', `${node.process.name} stops`);
    node.process.stop();
    const stoppedMs = this.#chance.between(50, 9_000);
    const suspicion = scheduler.after(silenceMs, () => this.#world.believeDead(node));
    scheduler.after(stoppedMs, () => {
      suspicion();
      if (!node.process.isAlive) return;
      this.#world.trace('fault', `${node.process.name} goes on`);
      node.process.continue();
      this.#world.believeAlive(node);
    });
  }

  #suspect(node: SimNode): void {
    this.#world.trace('fault', `${node.process.name} is taken for dead`);
    this.#world.believeDead(node);
    this.#world.scheduler.after(this.#chance.between(1, 3_000), () => this.#world.believeAlive(node));
  }

  #slowDown(node: SimNode): void {
    this.#world.trace('fault', `${node.process.name} is slow`);
    node.process.slowness = this.#chance.between(5, 60);
    this.#world.scheduler.after(this.#chance.between(100, 5_000), () => (node.process.slowness = 1));
  }

  /** One who held a session long ago writes once more, and knows the head well: only its epoch gives it away (L3). */
  async #haunt(): Promise<void> {
    const { oracle, topic } = this.#world;
    const held = oracle.sessions().filter((state) => state.epoch > 0);
    if (held.length === 0) return;
    const { sessionId, workspaceId, seq, epoch } = this.#chance.pick(held);
    const commit: Commit = {
      v: commitFormat,
      commitId: formatId('commit', this.#chance.bytes(16)),
      streamId: sessionStream(sessionId),
      workspaceId,
      keyId: '' as KeyId,
      epoch: (epoch - 1) as Epoch,
      expectedSeq: seq,
      at: 0 as Instant,
      minFold: 0,
      records: [{ id: ghostId, kind: 'lease.released', facets: {} }],
    };
    const partition = partitionOf(commit.streamId, topic.partitionsOf(topics.sessions));
    await topic.append([{ topic: topics.sessions, partition, key: commit.streamId, value: encodeCommit(commit) }]);
  }

  #drain(node: SimNode): void {
    this.#world.trace('fault', `${node.process.name} drains`);
    if (!node.isReady) return;
    const drained = node.worker.drain(this.#chance.between(0, 2_000)).then(() => this.#crash(node));
    drained.catch((error: unknown) => this.#world.fail(error));
  }
}
