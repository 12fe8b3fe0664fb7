import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EnvironmentSettings, Epoch, EventId, SessionId } from '@manyhands/protocol';
import type { Hand, HandConnector, HandRef } from '../hand.ts';
import type { SandboxProvider } from '../sandbox-provider.ts';
import type { HandCall } from './hand.contract.ts';

export interface SandboxProviderUnderTest {
  provider: SandboxProvider;
  connector: HandConnector;
  environment: EnvironmentSettings;
  /** A provider over what the first one left behind, as after the death of its process. */
  reopen(): Promise<SandboxProvider>;
  newSessionId(): SessionId;
  /** Ends a hand without warning. */
  kill(ref: HandRef): Promise<void>;
  calls: {
    /** Leaves a file in the workspace. */
    leave: HandCall;
    /** Succeeds when that file is there. */
    find: HandCall;
    /** Leaves the file, and does not end by itself. */
    hang: HandCall;
  };
  dispose(): Promise<void>;
}

/** The contract of `SandboxProvider`. */
export function sandboxProviderContract(name: string, create: () => Promise<SandboxProviderUnderTest>): void {
  describe(`sandbox provider: ${name}`, { timeout: 30_000 }, () => {
    let made: SandboxProviderUnderTest;
    let provider: SandboxProvider;
    let ref: HandRef;

    beforeEach(async () => {
      made = await create();
      provider = made.provider;
      ref = { sessionId: made.newSessionId(), hand: 'main', generation: 1 };
    }, 30_000);
    afterEach(() => made.dispose(), 30_000);

    const provision = (of = ref, by = provider) =>
      by.provision({ ref: of, environment: made.environment }, new AbortController().signal);
    const handOf = async (of = ref): Promise<Hand> => made.connector.connect(of, (await provision(of)).address);
    const run = async (hand: Hand, id: string, call: HandCall): Promise<boolean> => {
      const request = { executionId: executionId(id), ...call };
      return !(await hand.execute(epoch, request, new AbortController().signal)).isError;
    };
    const startHanging = async (hand: Hand): Promise<void> => {
      const request = { executionId: executionId('hanging'), ...made.calls.hang };
      hand.execute(epoch, request, new AbortController().signal).catch(() => {}); // It ends with its hand.
      await expect.poll(() => hand.look(epoch, executionId('hanging'))).toEqual({ state: 'running' });
      // Its first effect shows that it was not only accepted.
      await expect.poll(() => run(hand, `seen${String(Math.random()).slice(2)}`, made.calls.find)).toBe(true);
    };

    it('gives the same hand to everybody who asks for it', async () => {
      const all = await Promise.all(Array.from({ length: 20 }, () => provision()));
      const { address } = await provision();
      for (const status of all) expect(status).toEqual({ state: 'running', address });
      expect(await provider.find(ref)).toEqual({ state: 'running', address });
    });

    it('finds nothing where nothing was provisioned, and starts nothing', async () => {
      expect(await provider.find(ref)).toEqual({ state: 'gone' });
      expect(await provider.list()).toEqual([]);
      expect(await provider.journal(ref, executionId('any'))).toEqual({ state: 'unknown' });
    });

    it('says of a dead hand that it is gone, and never makes another under its generation', async () => {
      await provision();
      await made.kill(ref);
      expect(await provider.find(ref)).toEqual({ state: 'gone' });
      await expect(provision()).rejects.toMatchObject({ code: 'gone' });
      expect(await provider.find(ref)).toEqual({ state: 'gone' });
    });

    it('ends a hand for good, and keeps its workspace and its journal', async () => {
      const hand = await handOf();
      await startHanging(hand);
      await provider.end(ref);
      expect(await provider.find(ref)).toEqual({ state: 'gone' });
      await expect(hand.fence(epoch)).rejects.toMatchObject({ code: 'lost' });
      await expect(provision()).rejects.toMatchObject({ code: 'gone' });
      expect(await provider.journal(ref, executionId('hanging'))).toEqual({ state: 'running' });
      await provider.end(ref);
      expect(await run(await handOf({ ...ref, generation: 2 }), 'find', made.calls.find)).toBe(true);
    });

    it('has nothing against ending what never began', async () => {
      await provider.end(ref);
      expect(await provider.list()).toEqual([]);
      await provision();
    });

    it('reads what a dead hand wrote down', async () => {
      const hand = await handOf();
      await run(hand, 'finished', made.calls.leave);
      const finished = await hand.look(epoch, executionId('finished'));
      await startHanging(hand);
      await made.kill(ref);
      expect(await provider.find(ref)).toEqual({ state: 'gone' });
      expect(await provider.journal(ref, executionId('finished'))).toEqual(finished);
      expect(await provider.journal(ref, executionId('hanging'))).toEqual({ state: 'running' });
      expect(await provider.journal(ref, executionId('never'))).toEqual({ state: 'unknown' });
    });

    it('gives the workspace to the next generation', async () => {
      await run(await handOf(), 'leave', made.calls.leave);
      await made.kill(ref);
      const next = await handOf({ ...ref, generation: 2 });
      expect(await run(next, 'find', made.calls.find)).toBe(true);
    });

    it('ends what is left of earlier generations before a new one begins', async () => {
      await provision();
      await provision({ ...ref, generation: 2 });
      expect(await provider.find(ref)).toEqual({ state: 'gone' });
      expect(await provider.find({ ...ref, generation: 2 })).toMatchObject({ state: 'running' });
    });

    it('keeps sessions and hands apart', async () => {
      await run(await handOf(), 'leave', made.calls.leave);
      const otherSession = await handOf({ ...ref, sessionId: made.newSessionId() });
      const otherHand = await handOf({ ...ref, hand: 'second' });
      expect(await run(otherSession, 'find', made.calls.find)).toBe(false);
      expect(await run(otherHand, 'find', made.calls.find)).toBe(false);
    });

    it('finds running hands and their executions after the death of its process', async () => {
      const hand = await handOf();
      await startHanging(hand);
      const again = await made.reopen();
      const status = await again.find(ref);
      expect(status).toMatchObject({ state: 'running' });
      if (status.state !== 'running') return;
      expect(await provision(ref, again)).toEqual(status);
      const found = made.connector.connect(ref, status.address);
      expect(await found.look(epoch, executionId('hanging'))).toEqual({ state: 'running' });
      await found.cancel(epoch, executionId('hanging'));
      expect(await found.look(epoch, executionId('hanging'))).toMatchObject({ state: 'finished' });
    });

    it('removes everything of a session, and nothing of another', async () => {
      const other = { ...ref, sessionId: made.newSessionId() };
      await run(await handOf(), 'leave', made.calls.leave);
      await run(await handOf(other), 'leave', made.calls.leave);
      expect(new Set(await provider.list())).toEqual(new Set([ref.sessionId, other.sessionId]));
      await provider.destroy(ref.sessionId);
      expect(await provider.list()).toEqual([other.sessionId]);
      expect(await provider.find(ref)).toEqual({ state: 'gone' });
      expect(await provider.journal(ref, executionId('leave'))).toEqual({ state: 'unknown' });
      expect(await provider.find(other)).toMatchObject({ state: 'running' });
      expect(await run(await handOf({ ...ref, generation: 2 }), 'find', made.calls.find)).toBe(false);
    });

    it('has nothing against removing what is not there', async () => {
      await provider.destroy(ref.sessionId);
      await provision();
      await provider.destroy(ref.sessionId);
      await provider.destroy(ref.sessionId);
      expect(await provider.list()).toEqual([]);
    });

    it('stops waiting when it is told to', async () => {
      const reason = new Error('no time');
      const asked = provider.provision({ ref, environment: made.environment }, AbortSignal.abort(reason));
      await expect(asked).rejects.toBe(reason);
    });
  });
}

const epoch = 1 as Epoch;

function executionId(name: string): EventId {
  return `sevt_01${name}` as EventId;
}
