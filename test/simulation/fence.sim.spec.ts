/** H2, told step by step: a holder that stopped right before it started a command, and goes on when it is too late. */
import { createSessionCommand, sessionAgent } from '@manyhands/ports/testing';
import type { ClientEvent, SessionId } from '@manyhands/protocol';
import { expect, it } from 'vitest';
import { agentTools, workspaceId } from './client.ts';
import { noMutant } from './mutants.ts';
import type { SimNode } from './node.ts';
import { calm } from './plan.ts';
import { scriptText } from './script.ts';
import { World } from './world.ts';

const interrupt: ClientEvent = { type: 'user.interrupt', sessionThreadId: null };

it('does not start a command that the log says was answered', async () => {
  const world = new World(1, noMutant, calm);
  const first = await pass(world, world.startNode());
  const stopped = stopBeforeExecution(world, first, 2);
  const sessionId = await pass(world, begin(first));
  await pass(world, stopped);
  expect(world.hands.starts).toHaveLength(1);

  const second = await pass(world, world.startNode());
  second.workers.believeDead(first.incarnation);
  await pass(
    world,
    second.service.execute({
      type: 'send-events',
      workspaceId,
      sessionId,
      idempotency: null,
      events: [interrupt],
    }),
  );
  const isAnswered = (): boolean => world.oracle.state(sessionId)?.phase.status === 'idle';
  await world.scheduler.run(world.scheduler.now + 5_000, isAnswered);
  expect(isAnswered()).toBe(true);

  // Whatever the second holder does after its claim comes too late.
  second.process.kill();
  first.process.continue();
  await world.scheduler.run(world.scheduler.now + 5_000);
  expect(world.hands.starts).toHaveLength(1);
});

/** Two commands, one after the other: the first makes the hand known. */
async function begin(node: SimNode): Promise<SessionId> {
  const text = scriptText({ name: 'two', steps: [['bash'], ['bash']] });
  const create = createSessionCommand(workspaceId, {
    agent: { ...sessionAgent(), tools: agentTools },
    initialEvents: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  await node.service.execute(create);
  return create.sessionId;
}

/** Resolves when a node has stopped on its way to the nth execution. */
function stopBeforeExecution(world: World, node: SimNode, nth: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const connect = world.hands.connect.bind(world.hands);
  let executions = 0;
  world.hands.connect = (ref, address) => {
    const hand = connect(ref, address);
    const execute = hand.execute.bind(hand);
    hand.execute = async (...request) => {
      if (++executions === nth) {
        node.process.stop();
        resolve();
        await node.process.gate();
      }
      return execute(...request);
    };
    return hand;
  };
  return promise;
}

async function pass<T>(world: World, work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  await world.scheduler.run(world.scheduler.now + 60_000, () => isDone);
  return done;
}
