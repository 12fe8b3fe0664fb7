/** A session whose wakes fail before their claim, which leaves no trace in the log, is not woken again without end. */
import type { SessionLog } from '@manyhands/ports';
import { createSessionCommand, sessionAgent } from '@manyhands/ports/testing';
import type { SessionId } from '@manyhands/protocol';
import { expect, it } from 'vitest';
import { agentTools, workspaceId } from './client.ts';
import type { Mutant } from './mutants.ts';
import { calm } from './plan.ts';
import { scriptText } from './script.ts';
import { World } from './world.ts';

it('is woken later and later, and goes on when it can', async () => {
  const attempts: number[] = [];
  let isBroken = true;
  const breaking: Mutant = {
    name: 'a state that cannot be read',
    log: (log) => ({ ...bound(log), getState: (sessionId) => (isBroken ? fail() : log.getState(sessionId)) }),
  };
  const world = new World(1, breaking, calm);
  const fail = (): Promise<never> => {
    attempts.push(world.scheduler.now);
    return Promise.reject(new Error('no state'));
  };
  void world.startNode();
  await world.scheduler.run(1_000);
  const sessionId = begin(world);

  await world.scheduler.run(world.scheduler.now + 120_000);
  expect(attempts.length).toBeGreaterThan(5);
  expect(attempts.length).toBeLessThan(12);
  isBroken = false;
  const isIdle = (): boolean => world.oracle.state(sessionId)?.phase.status === 'idle';
  await world.scheduler.run(world.scheduler.now + 35_000, isIdle);
  expect(isIdle()).toBe(true);
});

function bound(log: SessionLog): SessionLog {
  return {
    append: log.append.bind(log),
    getState: log.getState.bind(log),
    getEvents: log.getEvents.bind(log),
    tail: log.tail.bind(log),
    runnable: log.runnable.bind(log),
    onRunnable: log.onRunnable.bind(log),
  };
}

function begin(world: World): SessionId {
  const text = scriptText({ name: 'none', steps: [] });
  const create = createSessionCommand(workspaceId, {
    agent: { ...sessionAgent(), tools: agentTools },
    initialEvents: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  void world.readyNodes()[0]?.service.execute(create);
  return create.sessionId;
}
