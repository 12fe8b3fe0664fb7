import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Epoch, EventId } from '@manyhands/protocol';
import type { ExecuteRequest, Execution, Hand } from '../hand.ts';

export type HandCall = Omit<ExecuteRequest, 'executionId'>;

/** A fresh hand that nobody has spoken to, and calls whose effect can be counted. */
export interface HandUnderTest {
  hand: Hand;
  /** Another client of the same hand, as after a restart of the caller. */
  reconnect(): Hand;
  /** A client that takes the hand for one of another generation. */
  connectAsGeneration(generation: number): Hand;
  calls: {
    /** Leaves one mark and ends well. */
    mark: HandCall;
    /** Leaves one mark, and ends with an error. */
    fail: HandCall;
    /** Leaves one mark and does not end by itself. */
    hang: HandCall;
  };
  countMarks(): Promise<number>;
  /** Ends the hand without warning. */
  kill(): Promise<void>;
  dispose(): Promise<void>;
}

/** The contract of `Hand`. */
export function handContract(name: string, create: () => Promise<HandUnderTest>): void {
  describe(`hand: ${name}`, () => {
    let made: HandUnderTest;
    let hand: Hand;

    beforeEach(async () => {
      made = await create();
      hand = made.hand;
    }, 30_000);
    afterEach(() => made.dispose(), 30_000);

    const run = (id: string, call: HandCall, at = 1, by = hand): Promise<Execution> =>
      by.execute(epoch(at), { executionId: executionId(id), ...call }, new AbortController().signal);

    it('runs a call once and answers again with the same result', async () => {
      const first = await run('once', made.calls.mark);
      const second = await run('once', made.calls.mark);
      expect(first).toMatchObject({ state: 'finished', isError: false });
      expect(second).toEqual(first);
      expect(await made.countMarks()).toBe(1);
    });

    it('answers with an error when the call fails, and does not run it again', async () => {
      expect(await run('failing', made.calls.fail)).toMatchObject({ state: 'finished', isError: true });
      expect(await run('failing', made.calls.fail)).toMatchObject({ state: 'finished', isError: true });
      expect(await made.countMarks()).toBe(1);
    });

    it('lets many callers join one execution', async () => {
      const results = await Promise.all(Array.from({ length: 10 }, () => run('joined', made.calls.mark)));
      expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
      expect(await made.countMarks()).toBe(1);
    });

    it('looks at an execution without starting it', async () => {
      expect(await hand.look(epoch(1), executionId('looked'))).toEqual({ state: 'unknown' });
      const finished = await run('looked', made.calls.mark);
      expect(await hand.look(epoch(1), executionId('looked'))).toEqual(finished);
      expect(await made.countMarks()).toBe(1);
    });

    it('goes on when a caller stops waiting, and lets the next one join', async () => {
      const impatient = new AbortController();
      const waiting = hand.execute(
        epoch(1),
        { executionId: executionId('left'), ...made.calls.hang },
        impatient.signal,
      );
      await marked(1);
      impatient.abort(new Error('no time'));
      await expect(waiting).rejects.toThrow('no time');
      const other = made.reconnect();
      expect(await other.look(epoch(1), executionId('left'))).toEqual({ state: 'running' });
      const joined = run('left', made.calls.hang, 1, other);
      await other.cancel(epoch(1), executionId('left'));
      expect(await joined).toMatchObject({ state: 'finished', isError: true });
      expect(await made.countMarks()).toBe(1);
    });

    it('makes an error of a call that is cancelled, and keeps it', async () => {
      const running = run('cancelled', made.calls.hang);
      await marked(1);
      await hand.cancel(epoch(1), executionId('cancelled'));
      const result = await running;
      expect(result).toMatchObject({ state: 'finished', isError: true });
      expect(await hand.look(epoch(1), executionId('cancelled'))).toEqual(result);
    });

    it('runs calls after a cancelled one', async () => {
      const running = run('before', made.calls.hang);
      await marked(1);
      await hand.cancel(epoch(1), executionId('before'));
      await running;
      expect(await run('after', made.calls.mark)).toMatchObject({ isError: false });
    });

    it('never starts what was cancelled before it was started', async () => {
      await hand.cancel(epoch(1), executionId('early'));
      expect(await run('early', made.calls.mark)).toMatchObject({ state: 'finished', isError: true });
      expect(await made.countMarks()).toBe(0);
    });

    it('leaves a finished result alone when it is cancelled', async () => {
      const finished = await run('done', made.calls.mark);
      await hand.cancel(epoch(1), executionId('done'));
      expect(await hand.look(epoch(1), executionId('done'))).toEqual(finished);
    });

    it('refuses an epoch below the highest that was there, whatever is asked', async () => {
      await hand.fence(epoch(5));
      const stale = made.reconnect();
      await expect(stale.fence(epoch(4))).rejects.toMatchObject({ code: 'fenced' });
      await expect(run('stale', made.calls.mark, 4, stale)).rejects.toMatchObject({ code: 'fenced' });
      await expect(stale.look(epoch(4), executionId('stale'))).rejects.toMatchObject({ code: 'fenced' });
      await expect(stale.cancel(epoch(4), executionId('stale'))).rejects.toMatchObject({ code: 'fenced' });
      expect(await run('fresh', made.calls.mark, 5)).toMatchObject({ isError: false });
      expect(await made.countMarks()).toBe(1);
    });

    it('tells what runs when it is fenced', async () => {
      await run('over', made.calls.mark);
      const running = run('running', made.calls.hang);
      await marked(2);
      const other = made.reconnect();
      expect(await other.fence(epoch(2))).toEqual([executionId('running')]);
      await other.cancel(epoch(2), executionId('running'));
      await running;
      expect(await other.fence(epoch(2))).toEqual([]);
    });

    it('raises the fence by any request of a higher epoch', async () => {
      await run('raising', made.calls.mark, 7);
      await expect(hand.fence(epoch(6))).rejects.toMatchObject({ code: 'fenced' });
    });

    it('refuses a caller that means another generation', async () => {
      const other = made.connectAsGeneration(hand.ref.generation + 1);
      await expect(other.fence(epoch(9))).rejects.toMatchObject({ code: 'fenced' });
      await expect(run('elsewhere', made.calls.mark, 9, other)).rejects.toMatchObject({ code: 'fenced' });
      expect(await made.countMarks()).toBe(0);
      await hand.fence(epoch(1));
    });

    it('is lost once it is dead', async () => {
      const running = run('cut', made.calls.hang);
      const cut = expect(running).rejects.toMatchObject({ code: 'lost' });
      await marked(1);
      await made.kill();
      await cut;
      await expect(made.reconnect().fence(epoch(1))).rejects.toMatchObject({ code: 'lost' });
    });

    function marked(count: number): Promise<void> {
      return expect.poll(() => made.countMarks(), { timeout: 10_000, interval: 5 }).toBe(count);
    }
  });
}

function executionId(name: string): EventId {
  return `sevt_01${name}` as EventId;
}

function epoch(value: number): Epoch {
  return value as Epoch;
}
