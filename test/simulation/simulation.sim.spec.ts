/**
 * The production core and runtime under seeded faults. `SEED=7` plays one run again; `MANYHANDS_LONG=1` plays many more.
 */
import { describe, expect, it } from 'vitest';
import { runSeed } from './run.ts';

const one = process.env['SEED'];
const runs = process.env['MANYHANDS_LONG'] === '1' ? 5_000 : 300;

describe('the simulation', () => {
  it.runIf(one !== undefined)(`keeps every invariant under seed ${one}`, async () => {
    await runSeed(Number(one));
  });

  it.runIf(one === undefined)(`keeps every invariant under ${runs} seeds`, async () => {
    for (let seed = 1; seed <= runs; seed++) await runSeed(seed);
  });

  it.runIf(one === undefined)('tells the same story for the same seed', async () => {
    expect(await runSeed(11)).toEqual(await runSeed(11));
  });
});
