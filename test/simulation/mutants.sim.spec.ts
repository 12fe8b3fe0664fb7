/** A simulation that finds nothing proves nothing: each rule of the log, taken away, is noticed. */
import { expect, it } from 'vitest';
import { adoptedEpoch, lastCopy, noBarrier, noEpochCheck, noSeqCheck } from './mutants.ts';
import { runSeed } from './run.ts';

const mutants = [noEpochCheck, noSeqCheck, adoptedEpoch, noBarrier, lastCopy];
/** The rarest mutant shows in every thirtieth run or so. */
const seeds = 300;

it.each(mutants)('catches $name', async (mutant) => {
  for (let seed = 1; seed <= seeds; seed++) {
    const caught = await runSeed(seed, mutant).then(
      () => null,
      (error: Error) => error,
    );
    if (!caught) continue;
    expect(caught.message).toContain(`SEED=${seed}`);
    return;
  }
  expect.fail(`no seed up to ${seeds} noticed it`);
});
