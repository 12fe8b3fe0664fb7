/**
 * The production core and runtime under seeded faults. `SEED=7` plays one run again; `MANYHANDS_LONG=1` plays many more.
 */
import { describe, expect, it } from 'vitest';
import { runSeed } from './run.ts';

const one = process.env['SEED'];
const isLong = process.env['MANYHANDS_LONG'] === '1';
const seeds = isLong ? 6_000 : 300;
/** A test for each so many seeds, so that a slow machine meets no time limit. */
const seedsOfTest = isLong ? 500 : 30;

describe.runIf(one !== undefined)('the simulation', () => {
  it(`keeps every invariant under seed ${one}`, async () => {
    await runSeed(Number(one));
  });
});

describe.runIf(one === undefined)('the simulation', () => {
  const firsts = Array.from({ length: seeds / seedsOfTest }, (_, index) => 1 + index * seedsOfTest);
  it.each(firsts)(`keeps every invariant under ${seedsOfTest} seeds from %i`, async (first) => {
    for (let seed = first; seed < first + seedsOfTest; seed++) await runSeed(seed);
  });

  it('tells the same story for the same seed', async () => {
    expect(await runSeed(11)).toEqual(await runSeed(11));
  });
});
