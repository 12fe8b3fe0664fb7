/** Hands that a command has taken over: what they say and what they keep silent about costs a session no more than them. */
import type { Hand } from '@manyhands/ports';
import { HandError } from '@manyhands/ports';
import { createSessionCommand, sessionAgent } from '@manyhands/ports/testing';
import type { ClientEvent, SessionId } from '@manyhands/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { agentTools, workspaceId } from './client.ts';
import { noMutant } from './mutants.ts';
import type { SimNode } from './node.ts';
import { calm } from './plan.ts';
import { scriptText } from './script.ts';
import type { Start } from './sim-hands.ts';
import { World } from './world.ts';

const interrupt: ClientEvent = { type: 'user.interrupt', sessionThreadId: null };

let world: World;
beforeEach(() => {
  world = new World(1, noMutant, calm);
});

describe('a hand that is not one any more', () => {
  it.each<[string, () => Error]>([
    ['answers nonsense', () => new HandError('lost', 'no hand answers like this')],
    ['speaks of a later holder', () => new HandError('fenced', 'epoch 9 was here')],
    ['does not answer', () => new HandError('unreachable', 'no answer')],
    ['meets a bug', () => new TypeError('executions is not iterable')],
  ])('%s: it keeps nobody from its session', async (_, error) => {
    const first = await pass(world.startNode());
    const started = onStart(() => first.process.stop());
    const sessionId = await pass(begin(first, [['bash']]));
    await pass(started);
    changeHands((hand) => ({ ...hand, fence: () => Promise.reject(error()) }));

    const second = await pass(world.startNode());
    second.workers.believeDead(first.incarnation);
    await pass(send(second, sessionId, interrupt));
    await untilIdle(sessionId, 20_000);
  });

  it.each<[string, () => Error]>([
    ['says that it is fenced', () => new HandError('fenced', 'epoch 9 was here')],
    ['never answers', () => new HandError('unreachable', 'no answer')],
    ['answers nonsense', () => new HandError('lost', 'no hand answers like this')],
  ])('%s: it is ended, and its calls are answered', async (_, error) => {
    const node = await pass(world.startNode());
    changeHands((hand) =>
      hand.ref.generation > 1
        ? hand
        : {
            ...hand,
            execute: async (...request) => {
              void hand.execute(...request).catch(() => undefined);
              await world.scheduler.pause(50);
              throw error();
            },
          },
    );
    world.hands.journal = async () => ({ state: 'unknown' });
    const sessionId = await pass(begin(node, [['bash'], ['bash']]));
    await untilIdle(sessionId, 60_000);
    expect(world.hands.starts.map(({ ref }) => ref.generation)).toEqual([1, 2]);
    expect(world.hands.alive().map(({ generation }) => generation)).toEqual([2]);
  });
});

describe('a hand that dies with its journal', () => {
  beforeEach(() => {
    world.hands.journal = async () => ({ state: 'unknown' });
  });

  it('has its calls run no second time', async () => {
    const node = await pass(world.startNode());
    void onStart(({ ref }) => world.hands.kill(ref));
    const sessionId = await pass(begin(node, [['bash'], ['read'], ['bash']]));
    await untilIdle(sessionId, 60_000);
    expect(countStarts()).toEqual(new Set([1]));
    expect(world.hands.starts).toHaveLength(3);
  });

  it('has them run no second time by the next holder', async () => {
    const first = await pass(world.startNode());
    const started = onStart(({ ref }) => {
      world.hands.kill(ref);
      world.crash(first, () => 0);
    });
    const sessionId = await pass(begin(first, [['bash']]));
    await pass(started);
    await pass(world.startNode());
    await untilIdle(sessionId, 60_000);
    expect(world.hands.starts).toHaveLength(1);
  });

  it('has a call made that waited for its permission when the hand died', async () => {
    const node = await pass(world.startNode());
    const sessionId = await pass(begin(node, [['write'], ['write']]));
    await untilIdle(sessionId);
    await pass(allowAll(node, sessionId));
    await untilIdle(sessionId);
    expect(world.hands.starts).toHaveLength(1);
    for (const ref of world.hands.alive()) world.hands.kill(ref);
    await pass(allowAll(node, sessionId));
    await untilIdle(sessionId);
    expect(world.hands.starts.map(({ ref }) => ref.generation)).toEqual([1, 2]);
  });
});

function countStarts(): Set<number> {
  const counts = new Map<string, number>();
  for (const { executionId } of world.hands.starts) counts.set(executionId, (counts.get(executionId) ?? 0) + 1);
  return new Set(counts.values());
}

function changeHands(change: (hand: Hand) => Hand): void {
  const connect = world.hands.connect.bind(world.hands);
  world.hands.connect = (ref, address) => {
    const hand = connect(ref, address);
    return change({
      ref,
      fence: hand.fence.bind(hand),
      execute: hand.execute.bind(hand),
      look: hand.look.bind(hand),
      cancel: hand.cancel.bind(hand),
    });
  };
}

/** Resolves at the first start. */
function onStart(happens: (start: Start) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const push = world.hands.starts.push.bind(world.hands.starts);
  world.hands.starts.push = (...starts) => {
    const length = push(...starts);
    starts.forEach(happens);
    resolve();
    return length;
  };
  return promise;
}

async function begin(node: SimNode, steps: string[][]): Promise<SessionId> {
  const text = scriptText({ name: 'false', steps });
  const create = createSessionCommand(workspaceId, {
    agent: { ...sessionAgent(), tools: agentTools },
    initialEvents: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  await node.service.execute(create);
  return create.sessionId;
}

async function send(node: SimNode, sessionId: SessionId, ...events: ClientEvent[]): Promise<void> {
  await node.service.execute({ type: 'send-events', workspaceId, sessionId, idempotency: null, events });
}

function allowAll(node: SimNode, sessionId: SessionId): Promise<void> {
  const phase = world.oracle.state(sessionId)?.phase;
  const calls = phase && 'turn' in phase ? (phase.turn?.calls ?? []) : [];
  const open = calls.filter((call) => !call.answered);
  return send(
    node,
    sessionId,
    ...open.map(({ eventId }): ClientEvent => ({
      type: 'user.tool_confirmation',
      toolUseId: eventId,
      result: 'allow',
      denyMessage: null,
    })),
  );
}

async function untilIdle(sessionId: SessionId, withinMs = 5_000): Promise<void> {
  const isIdle = (): boolean => world.oracle.state(sessionId)?.phase.status === 'idle';
  await world.scheduler.run(world.scheduler.now + withinMs, isIdle);
  expect(isIdle()).toBe(true);
}

async function pass<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  await world.scheduler.run(world.scheduler.now + 60_000, () => isDone);
  return done;
}
