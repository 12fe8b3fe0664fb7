/** The parts in memory keep the contracts of the ports whose place they take. */
import {
  MemoryTopic,
  handContract,
  modelContract,
  sandboxProviderContract,
  topicContract,
} from '@manyhands/ports/testing';
import type { PlannedAnswer } from '@manyhands/ports/testing';
import { environmentSettings, newTestId } from '@manyhands/ports/testing';
import type { ModelErrorCode, ModelRequest, Topic } from '@manyhands/ports';
import type { Instant } from '@manyhands/protocol';
import { setImmediate as nextTick } from 'node:timers/promises';
import { Chance } from './chance.ts';
import { SimProcess } from './process.ts';
import { Scheduler } from './scheduler.ts';
import { SimHands } from './sim-hands.ts';
import { SimModel } from './sim-model.ts';
import { SimTopic, noTopicFaults } from './sim-topic.ts';

topicContract('in memory, through the gate of a process', async () => {
  const chance = new Chance(1);
  const scheduler = new Scheduler(chance);
  const shared = new MemoryTopic({ now: () => Math.floor(scheduler.now) as Instant });
  const open = (): Topic => new SimTopic(shared, new SimProcess('p', scheduler, chance), chance, () => noTopicFaults);
  let isOpen = true;
  const running = keepRunning(scheduler, () => isOpen);
  return {
    topic: open(),
    reopen: async () => open(),
    close: async () => {
      isOpen = false;
      await running;
    },
  };
});

async function keepRunning(scheduler: Scheduler, isOpen: () => boolean): Promise<void> {
  while (isOpen()) {
    await scheduler.run(Number.MAX_SAFE_INTEGER, () => !isOpen());
    await nextTick();
  }
}

const failures: ModelErrorCode[] = [
  'overloaded',
  'rate_limited',
  'server_error',
  'connection',
  'cut_stream',
  'silent',
  'too_long',
  'invalid_request',
  'authentication',
  'billing',
];

modelContract(async () => {
  const plans: { plan: PlannedAnswer; failed: boolean }[] = [];
  const planOf = (request: ModelRequest) => plans[Number(request.messages[0]?.content[0]?.['text'])];
  const model = new SimModel({
    answerTo: (request) => planOf(request)?.plan ?? { blocks: [], stopReason: 'end_turn' },
    pause: () => nextTick(),
    hangOf: (request) => planOf(request)?.plan.hangs ?? null,
    faultOf: (request) => {
      const planned = planOf(request);
      if (!planned?.plan.failure || planned.failed) return null;
      planned.failed = true;
      return planned.plan.failure;
    },
  });
  return {
    model,
    failures,
    plan: (plan) => {
      const text = String(plans.push({ plan, failed: false }) - 1);
      return [{ role: 'user', content: [{ type: 'text', text }] }];
    },
    close: async () => undefined,
  };
});

const call = (command: string) => ({ name: 'bash' as const, input: { command } });

function contractHands(marks: { count: number }): SimHands {
  return new SimHands({
    pause: () => nextTick(),
    run: ({ input }, files) => {
      switch (input['command']) {
        case 'find':
          return { isError: !files.has('left'), text: '' };
        case 'hang':
        case 'leave':
          files.set('left', '');
          marks.count++;
          return input['command'] === 'hang' ? 'hangs' : { isError: false, text: '' };
        default:
          marks.count++;
          return { isError: input['command'] === 'fail', text: '' };
      }
    },
  });
}

handContract('in memory', async () => {
  const marks = { count: 0 };
  const hands = contractHands(marks);
  const ref = { sessionId: newTestId('session'), hand: 'main', generation: 1 };
  const { address } = await hands.provision({ ref, environment: environmentSettings }, new AbortController().signal);
  return {
    hand: hands.connect(ref, address),
    reconnect: () => hands.connect(ref, address),
    connectAsGeneration: (generation) => hands.connect({ ...ref, generation }, address),
    calls: { mark: call('mark'), fail: call('fail'), hang: call('hang') },
    countMarks: async () => marks.count,
    kill: async () => hands.kill(ref),
    dispose: async () => undefined,
  };
});

sandboxProviderContract('in memory', async () => {
  const hands = contractHands({ count: 0 });
  return {
    provider: hands,
    connector: hands,
    environment: environmentSettings,
    reopen: async () => hands,
    newSessionId: () => newTestId('session'),
    kill: async (ref) => hands.kill(ref),
    calls: { leave: call('leave'), find: call('find'), hang: call('hang') },
    dispose: async () => undefined,
  };
});
