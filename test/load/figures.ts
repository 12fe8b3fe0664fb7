/** What a measurement reports: one line of the table each, judged against its goal. */

export interface Figure {
  name: string;
  /** In words; empty where the figure is only told. */
  goal: string;
  /** In words. */
  measured: string;
  /** null: nothing is demanded. */
  isMet: boolean | null;
  /** For the JSON. */
  values: Record<string, number>;
}

export interface Bound {
  /** Which of the values. */
  of: string;
  atMost?: number;
  atLeast?: number;
}

/** The value below which this share of the samples lies; NaN without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** Latencies in milliseconds. */
export function latency(name: string, samples: readonly number[], bounds: readonly Bound[] = []): Figure {
  const values = {
    p50: percentile(samples, 0.5),
    p95: percentile(samples, 0.95),
    p99: percentile(samples, 0.99),
    max: Math.max(...samples),
    samples: samples.length,
  };
  const shown = `p50 ${round(values.p50)}  p99 ${round(values.p99)}  max ${round(values.max)} ms  (${samples.length})`;
  return figure(name, shown, values, bounds, ' ms');
}

export function figure(
  name: string,
  measured: string,
  values: Record<string, number>,
  bounds: readonly Bound[] = [],
  unit = '',
): Figure {
  const goal = bounds.map(({ of, atMost, atLeast }) => {
    const limit = atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`;
    return `${of} ${limit}${unit}`;
  });
  const isMet = bounds.length === 0 ? null : bounds.every((bound) => isWithin(values[bound.of] ?? NaN, bound));
  return { name, goal: goal.join(', '), measured, isMet, values };
}

function isWithin(value: number, { atMost = Infinity, atLeast = -Infinity }: Bound): boolean {
  return value <= atMost && value >= atLeast;
}

/** Three digits are all that such a measurement is worth. */
export function round(value: number): number {
  return Number(value.toPrecision(3));
}
