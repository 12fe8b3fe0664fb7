/**
 * One run: nodes over one topic, hands and models outside, clients with their wishes, and faults, all on virtual time and
 * all from one seed. What survives a crash is the topic, the blobs, the keys' key and the hands.
 */
import type { Logger } from '@manyhands/ports';
import { MemoryBlobStore, MemoryKeyService, MemoryTopic } from '@manyhands/ports/testing';
import type { Instant } from '@manyhands/protocol';
import { Chance } from './chance.ts';
import { Client } from './client.ts';
import { Faults } from './faults.ts';
import type { Mutant } from './mutants.ts';
import { noMutant } from './mutants.ts';
import { SimNode } from './node.ts';
import { Oracle, Writers } from './oracle.ts';
import { planFrom } from './plan.ts';
import type { RunPlan } from './plan.ts';
import { SimProcess, startOfTime } from './process.ts';
import { Scheduler } from './scheduler.ts';
import { SimHands } from './sim-hands.ts';
import type { Start } from './sim-hands.ts';
import { noTopicFaults } from './sim-topic.ts';
import type { TopicFaults } from './sim-topic.ts';
import { Fleet } from './sim-workers.ts';
import { Violation, must } from './violations.ts';

/** Virtual time in which every client must have played, and in which all must be quiet after it, in milliseconds. */
const playMs = 20 * 60_000;
const quietMs = 5 * 60_000;
/** For what nobody waits for, such as a deletion that two replicas complete. */
const settledMs = 20_000;
const tracedLines = 60;

/** Errors that say that a rule of the code is broken, not that the world is bad. */
const bugs = /TypeError|RangeError|ReferenceError|CannotEvolve|AssertionError|has no agent|breaks its stream/;

export class World {
  readonly seed: number;
  readonly plan: RunPlan;
  readonly mutant: Mutant;
  readonly scheduler: Scheduler;
  readonly topic: MemoryTopic;
  readonly blobs = new MemoryBlobStore();
  readonly keys = new MemoryKeyService();
  readonly fleet = new Fleet();
  readonly writers = new Writers();
  readonly hands: SimHands;
  readonly oracle: Oracle;
  readonly clients: Client[];
  readonly lines: string[] = [];
  nodes: SimNode[] = [];
  topicFaults: TopicFaults;
  readonly #chance: Chance;
  readonly #faults: Faults;
  #started = 0;
  #failure: unknown = null;

  constructor(seed: number, mutant: Mutant = noMutant, changes: Partial<RunPlan> = {}) {
    this.seed = seed;
    this.mutant = mutant;
    this.#chance = new Chance(seed);
    this.plan = { ...planFrom(this.#chance.fork()), ...changes };
    this.topicFaults = this.plan.topicFaults;
    this.scheduler = new Scheduler(this.#chance.fork());
    const partitions = this.plan.partitions;
    this.topic = new MemoryTopic(
      { now: () => Math.floor(startOfTime + this.scheduler.now) as Instant },
      { partitions: { 'sessions-01': partitions, keys: partitions }, defaultPartitions: 1, batchMessages: 20 },
    );
    this.oracle = new Oracle(this.topic);
    this.hands = this.#newHands(this.#chance.fork());
    this.#faults = new Faults(this, this.#chance.fork());
    this.clients = Array.from({ length: this.plan.sessions }, () => new Client(this, this.#chance.fork()));
  }

  /** Plays the clients' wishes under faults, then waits until all is quiet. */
  async play(): Promise<void> {
    for (let node = 0; node < this.plan.nodes; node++) void this.startNode();
    for (const client of this.clients) void client.play().catch((error: unknown) => this.fail(error));
    void this.#faults.play().catch((error: unknown) => this.fail(error));
    await this.#run(playMs, () => this.clients.every((client) => client.isDone));
    must(
      this.clients.every((client) => client.isDone),
      'a client waits for ever',
    );
    this.#faults.end();
    this.topicFaults = noTopicFaults;
    if (this.readyNodes().length === 0) void this.startNode();
    await this.#run(quietMs, () => this.#isQuiet());
    await this.#run(settledMs, () => false);
    must(this.#isQuiet(), 'a session wants the brain and does not get it (H3), or is not erased');
  }

  async #run(forMs: number, isOver: () => boolean): Promise<void> {
    await this.scheduler.run(this.scheduler.now + forMs, () => this.#failure !== null || isOver());
    if (this.#failure !== null) throw this.#failure as Error;
  }

  fail(error: unknown): void {
    this.#failure ??= error;
  }

  trace(who: string, what: string): void {
    this.lines.push(`${this.scheduler.now.toFixed(0).padStart(8)} ${who}: ${what}`);
    if (this.lines.length > tracedLines) this.lines.shift();
  }

  readyNodes(): SimNode[] {
    return this.nodes.filter((node) => node.isReady);
  }

  async startNode(): Promise<SimNode> {
    const process = new SimProcess(`node ${++this.#started}`, this.scheduler, this.#chance.fork(), (at) =>
      this.#faults.atGate(at),
    );
    const node = new SimNode(this, process, this.#chance.fork());
    this.nodes.push(node);
    this.trace(process.name, `starts as ${node.incarnation}`);
    if (await node.start()) return node;
    this.crash(node, () => 0);
    await this.scheduler.pause(500);
    return this.startNode();
  }

  /** It is over; each other worker hears of it some time later. */
  crash(node: SimNode, hearsAfterMs: () => number): void {
    if (!node.process.isAlive) return;
    node.process.kill();
    node.isReady = false;
    this.nodes = this.nodes.filter((other) => other !== node);
    this.fleet.died(node.incarnation);
    for (const { workers } of this.nodes)
      this.scheduler.after(hearsAfterMs(), () => workers.believeDead(node.incarnation));
  }

  believeDead(node: SimNode): void {
    for (const other of this.nodes) if (other !== node) other.workers.believeDead(node.incarnation);
  }

  believeAlive(node: SimNode): void {
    if (this.fleet.isDead(node.incarnation)) return;
    for (const other of this.nodes) other.workers.believeAlive(node.incarnation);
  }

  loggerOf(process: SimProcess): Logger {
    const line = (fields: Record<string, unknown>, message: string): void => {
      const text = `${message} ${JSON.stringify(fields)}`;
      this.trace(process.name, text);
      if (bugs.test(text)) this.fail(new Violation(text));
    };
    return { debug: () => undefined, info: () => undefined, warn: line, error: line };
  }

  #isQuiet(): boolean {
    return this.oracle.sessions().every(({ phase, deletedAt, erased }) => {
      if (deletedAt !== null) return erased;
      return phase.status === 'idle' || phase.status === 'terminated';
    });
  }

  #newHands(chance: Chance): SimHands {
    const longest = { start: 800, travel: 4, run: 400 };
    return new SimHands({
      pause: (what) =>
        this.scheduler.pause(chance.happens(0.03) ? chance.between(100, 6_000) : chance.between(0, longest[what])),
      run: () => ({ isError: chance.happens(0.1), text: 'ran '.repeat(chance.between(1, 400)) }),
      now: () => this.scheduler.now,
      onStart: (start) => this.#checkStart(start),
      isUnreachable: () => chance.happens(this.plan.unreachableHands),
    });
  }

  /** E6; and the fence: in a hand that lived when a later holder answered a call, the call does not start any more (H2). */
  #checkStart({ ref, livesSince, epoch, executionId }: Start): void {
    this.trace(`hand ${ref.generation}`, `starts ${executionId} at epoch ${epoch}`);
    const same = this.hands.starts.filter(
      (other) => other.executionId === executionId && other.ref.generation === ref.generation,
    );
    if (same.length > 1) this.fail(new Violation(`${executionId} started twice in generation ${ref.generation} (E6)`));
    const answer = this.oracle.answerTo(executionId);
    if (answer && answer.epoch > epoch && answer.time >= startOfTime + livesSince) {
      this.fail(new Violation(`${executionId} started at epoch ${epoch} after the log says it was answered (H2)`));
    }
  }
}
