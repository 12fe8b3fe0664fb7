/** One registry per process, handed to the parts that count something; there is no global one. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export type { Counter, Gauge, Histogram };

/** Seconds; from a fifth of a millisecond, where an append lies, to the ten minutes an SDK waits. */
const durationBuckets = [
  0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600,
];

/** The event loop's delay is sampled with this period in milliseconds; prom-client's own 10 would wake an idle process. */
const eventLoopSampleMs = 100;

export interface MetricOptions<Label extends string> {
  name: string;
  help: string;
  labels?: readonly Label[];
}

export class Metrics {
  readonly #registry = new Registry();

  /** `processMetrics` adds memory, processor time, garbage collection and delay of the event loop. */
  constructor({ service, processMetrics = false }: { service: string; processMetrics?: boolean }) {
    this.#registry.setDefaultLabels({ service });
    if (processMetrics) {
      collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: eventLoopSampleMs });
    }
  }

  /** With `read`, the count is kept elsewhere and asked for when somebody scrapes. */
  counter<Label extends string = never>(options: MetricOptions<Label>, read?: () => number): Counter<Label> {
    const counter: Counter<Label> = new Counter({
      ...this.#configuration(options),
      ...(read && {
        collect: () => {
          counter.reset();
          counter.inc(read());
        },
      }),
    });
    return counter;
  }

  /** With `read`, the value is asked for when somebody scrapes. */
  gauge<Label extends string = never>(options: MetricOptions<Label>, read?: () => number): Gauge<Label> {
    const gauge: Gauge<Label> = new Gauge({
      ...this.#configuration(options),
      ...(read && { collect: () => gauge.set(read()) }),
    });
    return gauge;
  }

  /** Of durations in seconds, unless buckets are given. */
  histogram<Label extends string = never>(options: MetricOptions<Label>, buckets = durationBuckets): Histogram<Label> {
    return new Histogram({ ...this.#configuration(options), buckets });
  }

  /** The text that Prometheus reads. */
  async render(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #configuration<Label extends string>({ name, help, labels = [] }: MetricOptions<Label>) {
    return { name: `manyhands_${name}`, help, labelNames: [...labels], registers: [this.#registry] };
  }
}
