/** Waiting for what the world looks like, never for a time. */

/** Asks until the answer is not null; fails with the last error or the description after `limitMs`. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | null | undefined | false>,
  limitMs: number = 30_000,
): Promise<T> {
  const giveUpAt = performance.now() + limitMs;
  let last: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== null && answer !== undefined && answer !== false) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > giveUpAt) throw new Error(`waited ${limitMs} ms for ${what}`, { cause: last });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Until the clock shows another millisecond: what is made now is newer than what was made before. */
export async function clockTick(): Promise<void> {
  const before = Date.now();
  while (Date.now() <= before) await new Promise((resolve) => setTimeout(resolve, 1));
}
