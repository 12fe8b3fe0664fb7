/** When to try a failed model request again: doubling waits with jitter, or what the provider asked for. */

const firstWaitMs = 500;
const longestWaitMs = 60_000;
/** A provider may ask for more than our own longest wait, but not for ever. */
const longestAskedWaitMs = 600_000;

/** `failures` counts those before this one; `random` is uniform in [0, 1). */
export function retryDelayMs(failures: number, retryAfterMs: number | null, random: number): number {
  if (retryAfterMs !== null) return Math.min(retryAfterMs, longestAskedWaitMs) + Math.floor(random * firstWaitMs);
  const wait = Math.min(firstWaitMs * 2 ** failures, longestWaitMs);
  return Math.floor(wait * (0.5 + random / 2));
}
