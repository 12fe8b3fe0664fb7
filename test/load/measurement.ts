import type { Figure } from './figures.ts';

export interface BenchOptions {
  /** Fewer samples: the same figures, rougher. */
  isQuick: boolean;
}

/** One file of this folder each. It starts what it needs and leaves nothing running. */
export interface Measurement {
  name: string;
  /** What is measured, and how, in one line. */
  about: string;
  run(options: BenchOptions): Promise<Figure[]>;
}
