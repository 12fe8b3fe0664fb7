/** What holds in every session, whatever clients, models, hands and workers do, and in whatever order. */
import type { Microcents, SessionLogRecord } from '@manyhands/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentWith, allow, customResult, deny, interrupt, message, systemMessage } from '../testing/fixtures.ts';
import { Refused, Story, textBlock, use } from '../testing/story.ts';
import { CannotEvolve, turnOf } from '../session/evolve.ts';
import { runnableCalls } from './calls.ts';
import { runnableOf } from './claim-records.ts';
import type { Outcome } from './settle.ts';

const tools = ['bash', 'read', 'write', 'ask_human', 'dance'];
const stopReasons = ['end_turn', 'max_tokens', 'refusal', 'pause_turn'] as const;

/** A session and the outcomes that came too late to be settled at once. */
interface World {
  story: Story;
  late: Outcome[];
  calls: number;
}

/** Each move does something that may happen now, or nothing; `pick` chooses among what there is. */
const moves: Record<string, (world: World, pick: number) => void> = {
  message: ({ story }, pick) => tell(story, message(`m${pick}`)),
  'message and rule': ({ story }, pick) => tell(story, message(`m${pick}`), systemMessage('rule')),
  rule: ({ story }) => tell(story, systemMessage('rule')),
  interrupt: ({ story }) => tell(story, interrupt()),
  'interrupt and message': ({ story }, pick) => tell(story, interrupt(), message(`m${pick}`)),
  confirm: ({ story }, pick) => withAny(story, pick, (id) => tell(story, pick % 3 === 0 ? deny(id) : allow(id))),
  answer: ({ story }, pick) => withAny(story, pick, (id) => tell(story, customResult(id))),
  claim: ({ story }, pick) => {
    const due = runnableOf(story.state, story.limits.takeover);
    if (due) story.passes(Math.max(0, due.notBefore - story.now)).claims(`w${pick % 3}`);
  },
  look: ({ story }) => void story.advances(),
  respond: (world, pick) => onRequest(world, (story) => story.settles(response(world, pick))),
  'respond too late': (world, pick) => onRequest(world, () => world.late.push(response(world, pick))),
  fail: (world, pick) =>
    onRequest(world, (story) => story.fails({ retriable: pick % 4 !== 0, tooLong: pick % 5 === 0 })),
  compact: (world) =>
    onRequest(world, (story) => {
      if (turnOf(story.state.phase)?.request?.purpose === 'compaction') story.compacts('summary');
    }),
  finish: ({ story }, pick) => {
    const call = runnable(story)[0];
    if (call) story.settles(toolAnswer(call, 1 + (pick % 2)));
  },
  'finish too late': ({ story, late }, pick) => {
    const call = runnable(story).at(-1);
    if (call) late.push(toolAnswer(call, 1 + (pick % 2)));
  },
  'lose hand': ({ story }, pick) => {
    const call = runnable(story)[0];
    const generation = story.state.hand?.generation ?? 1;
    const outcome = { type: 'hand-lost' as const, started: pick % 2 === 0, hand: 'main', generation };
    if (call) story.settles({ ...outcome, toolUseId: call });
  },
  'settle late': ({ story, late }) => {
    const outcome = late.shift();
    if (outcome && story.state.lease) story.settles(outcome);
  },
  'raise budget': ({ story }) => {
    const decision = story.decidesUpdate({ budgetCents: (story.state.budgetCents ?? 1) + 1 });
    if (decision.kind === 'write') story.updates({ budgetCents: (story.state.budgetCents ?? 1) + 1 });
  },
  wait: ({ story }, pick) => void story.passes(pick),
};

function tell(story: Story, ...events: Parameters<Story['sends']>): void {
  try {
    story.sends(...events);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
}

function withAny(story: Story, pick: number, act: (id: ReturnType<Story['call']>) => void): void {
  const calls = turnOf(story.state.phase)?.calls ?? [];
  const call = calls[pick % Math.max(1, calls.length)];
  if (call) act(call.eventId);
}

function onRequest(world: World, act: (story: Story) => void): void {
  const { story } = world;
  if (story.state.lease && turnOf(story.state.phase)?.request) act(story);
}

function runnable(story: Story) {
  const turn = turnOf(story.state.phase);
  return story.state.lease && turn && !turn.request ? runnableCalls(turn).map((call) => call.eventId) : [];
}

function response(world: World, pick: number): Outcome {
  const count = pick % 4;
  const blocks = Array.from({ length: count }, (_, index) =>
    use(`c${++world.calls}`, tools[(pick + index) % tools.length] ?? 'bash'),
  );
  const usage = { inputTokens: 100 * (pick % 10), outputTokens: pick % 7 === 0 ? 300_000 : 10 };
  const stopReason = count === 0 ? stopReasons[pick % 4] : pick % 11 === 0 ? 'max_tokens' : 'tool_use';
  return world.story.response([textBlock(`t${pick}`), ...blocks], { ...(stopReason && { stopReason }), usage });
}

function toolAnswer(toolUseId: ReturnType<Story['call']>, generation: number): Outcome {
  const content = [{ type: 'text' as const, text: 'ok' }];
  return { type: 'tool-answered', toolUseId, isError: false, content, chars: 900, hand: { hand: 'main', generation } };
}

/** What the session needs next, so that a plan of random moves comes far. */
function goOn(world: World, pick: number): string {
  const { story } = world;
  const turn = turnOf(story.state.phase);
  if (story.state.phase.status === 'idle') return turn ? (pick % 2 === 0 ? 'answer' : 'confirm') : 'message';
  if (!story.state.lease) return 'claim';
  if (turn?.request) return turn.request.purpose === 'turn' ? 'respond' : 'compact';
  return runnable(story).length > 0 ? 'finish' : 'look';
}

const anyMove = fc.oneof(
  { weight: 3, arbitrary: fc.constant('go on') },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(moves)) },
);

const plan = fc.record({
  budgetCents: fc.constantFrom(null, null, 1, 3),
  moves: fc.array(fc.tuple(anyMove, fc.nat(1_000)), { maxLength: 60, size: 'max' }),
});

function play(
  { budgetCents, moves: chosen }: typeof plan extends fc.Arbitrary<infer T> ? T : never,
  each?: (world: World, move: string) => void,
): World {
  const agent = agentWith({ write: 'always_ask' });
  const world: World = { story: new Story({ agent, budgetCents }), late: [], calls: 0 };
  for (const [chosenName, pick] of chosen) {
    const name = chosenName === 'go on' ? goOn(world, pick) : chosenName;
    moves[name]?.(world, pick);
    each?.(world, name);
  }
  return world;
}

/** A patient client, model, hand and worker bring the session to its end. */
function runToEnd(world: World): void {
  const { story } = world;
  for (let steps = 0; story.state.phase.status !== 'idle' || isWaiting(story); steps++) {
    if (steps > 200) throw new Error(`does not end: ${story.told.slice(-8).join(', ')}`);
    stepToEnd(world);
  }
}

function isWaiting(story: Story): boolean {
  return story.state.phase.status === 'idle' && story.state.phase.stopReason?.type === 'requires_action';
}

function stepToEnd(world: World): void {
  const { story } = world;
  const turn = turnOf(story.state.phase);
  if (isWaiting(story)) {
    for (const call of turn?.calls ?? []) {
      if (call.answered) continue;
      tell(story, call.tool === 'custom' ? customResult(call.eventId) : allow(call.eventId));
    }
    return;
  }
  if (!story.state.lease) return moves.claim?.(world, 0);
  if (turn?.request) return void (turn.request.purpose === 'turn' ? story.says('done') : story.compacts('summary'));
  const call = runnable(story)[0];
  if (call) story.settles(toolAnswer(call, 1));
  else story.advances();
}

/** What a holder writes says everything that is to be said by then. */
const holderMoves = new Set(['claim', 'look', 'respond', 'finish', 'compact', 'settle late']);

const runs = { numRuns: 300 };

describe('in every session', () => {
  it('every record can be folded, and the holder has nothing left to say after each step (H1)', () => {
    fc.assert(
      fc.property(plan, (chosen) => {
        expect(() =>
          play(chosen, ({ story }, move) => {
            const { lease, phase } = story.state;
            if (phase.status === 'idle' || phase.status === 'terminated') expect(lease).toBeNull();
            if (holderMoves.has(move) && story.news.length > 0) expect(story.step.kind).not.toBe('append');
          }),
        ).not.toThrow(CannotEvolve);
      }),
      runs,
    );
  });

  it('an action is always under way or due while it runs: nothing waits for nobody', () => {
    fc.assert(
      fc.property(plan, (chosen) => {
        play(chosen, ({ story }) => {
          const due = runnableOf(story.state, story.limits.takeover);
          const { status } = story.state.phase;
          expect(due !== null).toBe(status === 'running' || status === 'rescheduling');
          if (!story.state.lease) return;
          const { step } = story;
          if (step.kind === 'act') expect(step.actions.length).toBeGreaterThan(0);
        });
      }),
      runs,
    );
  });

  it('it ends when everybody does their part, and then every call has exactly one result', () => {
    fc.assert(
      fc.property(plan, (chosen) => {
        const world = play(chosen);
        runToEnd(world);
        const { records } = world.story;
        const calls = records.filter((record) => record.kind.endsWith('tool_use')).map((record) => record.id);
        const results = records.flatMap((record) =>
          record.kind === 'agent.tool_result' || record.kind === 'user.custom_tool_result'
            ? [record.facets.toolUseId]
            : [],
        );
        expect(results.toSorted()).toEqual(calls.toSorted());
      }),
      runs,
    );
  });

  it('every idle says its thread’s and the use right before it', () => {
    fc.assert(
      fc.property(plan, (chosen) => {
        const { records } = play(chosen).story;
        records.forEach((record, index) => {
          if (record.kind !== 'session.status_idle') return;
          expect(records[index - 1]?.kind).toBe('session.usage');
          expect(records[index - 2]?.kind).toBe('session.thread_status_idle');
        });
      }),
      runs,
    );
  });

  it('every input is given its place once, and waits for it once', () => {
    fc.assert(
      fc.property(plan, (chosen) => {
        const { records, state } = play(chosen).story;
        const waited = records.filter((record) => 'placed' in record.facets && !record.facets.placed);
        const placed = records.flatMap((record) =>
          record.kind === 'input.taken' || record.kind === 'input.dropped' ? record.facets.seqs : [],
        );
        const queued = state.queue.map((input) => input.seq);
        expect([...placed, ...queued].toSorted((a, b) => a - b)).toEqual(waited.map((record) => record.seq));
      }),
      runs,
    );
  });

  it('every model request ends once, with its content before its end', () => {
    fc.assert(
      fc.property(plan, (chosen) => {
        const world = play(chosen);
        runToEnd(world);
        let open: string | null = null;
        for (const record of world.story.records) open = openAfter(open, record);
        expect(open).toBeNull();
      }),
      runs,
    );
  });

  it('use and time only grow', () => {
    fc.assert(
      fc.property(plan, (chosen) => {
        let cost = 0 as Microcents;
        let activeMs = 0;
        play(chosen, ({ story: { state } }) => {
          expect(state.usage.cost).toBeGreaterThanOrEqual(cost);
          expect(state.usage.activeMs).toBeGreaterThanOrEqual(activeMs);
          ({ cost, activeMs } = state.usage);
        });
      }),
      runs,
    );
  });
});

function openAfter(open: string | null, record: SessionLogRecord): string | null {
  if (record.kind === 'span.model_request_start') {
    expect(open).toBeNull();
    return record.id;
  }
  if (record.kind === 'span.model_request_end') {
    expect(record.facets.startId).toBe(open);
    return null;
  }
  const isContent = ['model.response', 'agent.message', 'agent.tool_use', 'agent.custom_tool_use'].includes(
    record.kind,
  );
  if (isContent) expect(open).not.toBeNull();
  if (record.kind === 'agent.tool_result') expect(open).toBeNull();
  return open;
}
