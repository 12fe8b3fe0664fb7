/** Plays one seed and checks what must hold; a failure names the seed and shows what happened last. */
import { createHash } from 'node:crypto';
import { sessionStream } from '@manyhands/protocol';
import type { LogRecord, Seq, SessionId, SessionLogRecord } from '@manyhands/protocol';
import type { Mutant } from './mutants.ts';
import type { SimNode } from './node.ts';
import { checkHistory } from './history.ts';
import { Violation, must } from './violations.ts';
import { World } from './world.ts';

export interface RunReport {
  seed: number;
  steps: number;
  records: number;
  starts: number;
  /** A fingerprint of every history: the same seed gives the same. */
  fingerprint: string;
}

export async function runSeed(seed: number, mutant?: Mutant): Promise<RunReport> {
  const world = new World(seed, mutant);
  try {
    await world.play();
    return await check(world);
  } catch (error) {
    const trace = world.lines.join('\n');
    const message = error instanceof Violation ? error.message : error instanceof Error ? error.stack : String(error);
    throw new Violation(`SEED=${seed}: ${message}\n${JSON.stringify(world.plan)}\n${trace}`, { cause: error });
  }
}

/** L1, L6: a replica that starts from nothing and all that live tell the same. */
async function check(world: World): Promise<RunReport> {
  const fresh = await inWorld(world, world.startNode());
  const hash = createHash('sha256');
  let records = 0;
  for (const client of world.clients) {
    const history = await inWorld(world, historyOf(fresh, client.sessionId));
    for (const node of world.readyNodes()) {
      const other = await inWorld(world, historyOf(node, client.sessionId));
      must(JSON.stringify(other) === JSON.stringify(history), `${node.process.name} tells another history (L1)`);
      const [mine, theirs] = await inWorld(
        world,
        Promise.all([fresh, node].map(({ service }) => service.getState(client.sessionId))),
      );
      must(JSON.stringify(mine) === JSON.stringify(theirs), `${node.process.name} comes to another state (L1)`);
    }
    if (client.end === 'deleted') checkDeleted(history);
    else checkHistory(history, { client, writers: world.writers, mayGiveUp: world.plan.mayGiveUp });
    hash.update(JSON.stringify(history));
    records += history.length;
  }
  const starts = world.hands.starts.length;
  return { seed: world.seed, steps: world.scheduler.steps, records, starts, fingerprint: hash.digest('base64url') };
}

function checkDeleted(history: readonly LogRecord[]): void {
  must(
    history.every((record) => record.payload === null),
    'a payload outlives the deletion of its session',
  );
}

async function historyOf(node: SimNode, sessionId: SessionId): Promise<SessionLogRecord[]> {
  const history: LogRecord[] = [];
  for (;;) {
    const after = (history.at(-1)?.seq ?? 0) as Seq;
    const { records, complete } = await node.service.getEvents(sessionStream(sessionId), { after });
    history.push(...records);
    if (complete || records.length === 0) return history as SessionLogRecord[];
  }
}

/** Lets virtual time pass until something is done. */
async function inWorld<T>(world: World, work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  done.catch(() => undefined);
  await world.scheduler.run(world.scheduler.now + 120_000, () => isDone);
  must(isDone, 'a replica does not answer');
  return done;
}
