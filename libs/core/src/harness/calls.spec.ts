import type { BuiltinToolName, EventId, Permission, Seq } from '@manyhands/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolCall, Turn } from '../session/state.ts';
import { newTurn } from '../session/evolve.ts';
import { awaitsClient, mayRun, refusalCause, runnableCalls } from './calls.ts';

type Tool = ToolCall['tool'];

function call(name: string, tool: Tool, change: Partial<ToolCall> = {}): ToolCall {
  const base = { eventId: name as EventId, seq: 1 as Seq, permission: 'allow' as Permission };
  return { ...base, tool, confirmation: null, answered: false, ...change };
}

const allowed = { confirmation: { result: 'allow' as const, seq: 2 as Seq } };
const denied = { confirmation: { result: 'deny' as const, seq: 2 as Seq } };

/** `bash read* write`: the calls of a response; a star marks an answered one. */
function runnable(calls: string): string {
  const list = calls.split(' ').map((word, index) => {
    const tool = word.replace('*', '');
    return call(`${index}`, tool === 'unknown' ? null : (tool as Tool), { answered: word.endsWith('*') });
  });
  const turn: Turn = { ...newTurn, calls: list };
  return runnableCalls(turn)
    .map(({ eventId }) => eventId)
    .join(' ');
}

describe('the calls to run now', () => {
  it.each([
    ['bash', '0'],
    ['bash bash', '0'],
    ['bash* bash', '1'],
    ['bash write edit', '0'],
    ['read grep glob', '0 1 2'],
    ['read bash', '0'],
    ['read* bash', '1'],
    ['read bash read', '0'],
    ['bash read', '0'],
    ['bash* read bash read', '1'],
    ['bash* read* bash read', '2'],
    ['read* bash* read', '2'],
    ['web_fetch bash web_search read', '0 1 2'],
    ['web_fetch web_fetch', '0 1'],
    ['custom bash', '1'],
    ['unknown bash', '1'],
    ['bash* read*', ''],
  ])('of %s are %s', (calls, expected) => {
    expect(runnable(calls)).toBe(expected);
  });

  it('do not wait for one that waits for the client, and go on when the client allows it', () => {
    const asked = call('a', 'bash', { permission: 'ask' });
    const later = call('b', 'bash');
    const ids = (calls: ToolCall[]) => runnableCalls({ ...newTurn, calls }).map(({ eventId }) => eventId);
    expect(ids([asked, later])).toEqual(['b']);
    expect(ids([{ ...asked, ...allowed }, later])).toEqual(['b']);
    expect(
      ids([
        { ...asked, ...allowed },
        { ...later, answered: true },
      ]),
    ).toEqual(['a']);
    expect(ids([{ ...asked, ...denied }, later])).toEqual(['b']);
  });

  it('never change a hand beside another call of it, and always leave something running until all are answered', () => {
    const names: BuiltinToolName[] = ['bash', 'write', 'edit', 'read', 'glob', 'grep', 'web_fetch'];
    const changes = new Set(['bash', 'write', 'edit']);
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...names), { maxLength: 8 }),
        fc.infiniteStream(fc.nat()),
        (tools, picks) => {
          let calls = tools.map((tool, index) => call(`${index}`, tool));
          const order: number[] = [];
          while (calls.some((one) => !one.answered)) {
            const now = runnableCalls({ ...newTurn, calls });
            const inHand = now.filter((one) => one.tool !== 'web_fetch');
            expect(now.length).toBeGreaterThan(0);
            if (inHand.some((one) => changes.has(one.tool ?? ''))) expect(inHand).toHaveLength(1);
            const done = now[(picks.next().value as number) % now.length];
            order.push(Number(done?.eventId));
            calls = calls.map((one) => (one === done ? { ...one, answered: true } : one));
          }
          const writes = order.filter((index) => changes.has(tools[index] ?? ''));
          expect(writes).toEqual(writes.toSorted((a, b) => a - b));
        },
      ),
    );
  });
});

describe('a call', () => {
  const rows: [string, ToolCall, boolean, boolean, string | null][] = [
    ['allowed', call('c', 'bash'), true, false, null],
    ['asked', call('c', 'bash', { permission: 'ask' }), false, true, null],
    ['asked and allowed', call('c', 'bash', { permission: 'ask', ...allowed }), true, false, null],
    ['asked and denied', call('c', 'bash', { permission: 'ask', ...denied }), false, false, 'denied_by_user'],
    ['not enabled', call('c', 'bash', { permission: 'deny' }), false, false, 'not_enabled'],
    ['of an unknown name', call('c', null, { permission: 'deny' }), false, false, 'not_enabled'],
    ['custom', call('c', 'custom'), false, true, null],
    ['answered', call('c', 'bash', { answered: true }), false, false, null],
    ['custom and answered', call('c', 'custom', { answered: true }), false, false, null],
  ];
  it.each(rows)('that is %s', (_, one, runs, waits, refused) => {
    expect([mayRun(one), awaitsClient(one), refusalCause(one)]).toEqual([runs, waits, refused]);
  });

  it('stands in one of these ways at a time', () => {
    for (const [, one] of rows) {
      const ways = [one.answered, mayRun(one), awaitsClient(one), refusalCause(one) !== null];
      expect(ways.filter(Boolean)).toHaveLength(1);
    }
  });
});
