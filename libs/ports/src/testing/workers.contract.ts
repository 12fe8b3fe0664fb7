import type { Incarnation } from '@manyhands/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Workers } from '../workers.ts';
import { patient, unhurried } from './patience.ts';

export interface WorkersUnderTest {
  /** A worker that has just started. */
  start(): Promise<Workers>;
  /** Ends the worker started last, as a kill does. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** What every implementation of `Workers` promises. At most one worker is started at a time. */
export function workersContract(name: string, open: () => Promise<WorkersUnderTest>): void {
  describe(`workers contract: ${name}`, unhurried, () => {
    let under: WorkersUnderTest;
    beforeAll(async () => {
      under = await open();
    });
    afterAll(() => under.close());

    it('counts itself among the living, in a stable order', async () => {
      const workers = await under.start();
      await expect.poll(() => workers.live(), patient).toContain(workers.self);
      expect(workers.isDead(workers.self)).toBe(false);
      expect(workers.live()).toEqual(workers.live());
      await under.kill();
    });

    it('is another incarnation at every start, and takes the one before for dead', async () => {
      const before = await under.start();
      await under.kill();
      const after = await under.start();
      expect(after.self).not.toBe(before.self);
      await expect.poll(() => after.isDead(before.self), patient).toBe(true);
      expect(after.live()).not.toContain(before.self);
      await under.kill();
    });

    it('takes an incarnation nobody heard of for dead', async () => {
      const workers = await under.start();
      await expect.poll(() => workers.isDead('inc_01unheard' as Incarnation), patient).toBe(true);
      await under.kill();
    });

    it('lets a listener go, also twice', async () => {
      const workers = await under.start();
      const unsubscribe = workers.onDeath(() => {});
      unsubscribe();
      unsubscribe();
      await under.kill();
    });
  });
}
