/** A transient failure is tried again when its wait is over, by the worker that met it, and not at the next sweep. */
import { createSessionCommand, sessionAgent } from '@manyhands/ports/testing';
import { expect, it } from 'vitest';
import { agentTools, workspaceId } from './client.ts';
import { noMutant } from './mutants.ts';
import { calm } from './plan.ts';
import { startOfTime } from './process.ts';
import { scriptText } from './script.ts';
import { World } from './world.ts';

it.each([1, 2, 3, 4, 5, 6])('comes when it is due (seed %i)', async (seed) => {
  const world = new World(seed, noMutant, { ...calm, modelFailures: 1, maxModelFailures: 50 });
  void world.startNode();
  await world.scheduler.run(1_000);
  const text = scriptText({ name: 'none', steps: [] });
  const create = createSessionCommand(workspaceId, {
    agent: { ...sessionAgent(), tools: agentTools },
    initialEvents: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  void world.readyNodes()[0]?.service.execute(create);

  const phase = () => world.oracle.state(create.sessionId)?.phase;
  await world.scheduler.run(60_000, () => phase()?.status === 'rescheduling');
  const failed = phase();
  if (failed?.status !== 'rescheduling') return expect.fail('the model did not fail');
  await world.scheduler.run(60_000, () => phase()?.status === 'running');
  expect(startOfTime + world.scheduler.now - failed.retryAt).toBeLessThan(200);
});
