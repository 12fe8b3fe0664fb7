/** The counters of every part, under their names in Prometheus. */
import type { EgressProxy } from '@manyhands/adapter-egress';
import type { Metrics } from '@manyhands/platform';
import type { HarnessCounters, SessionLogService, Worker } from '@manyhands/runtime';

export interface Measured {
  log: SessionLogService;
  harness: HarnessCounters;
  worker: Worker;
  egress: EgressProxy;
}

export function exposeMetrics(metrics: Metrics, { log, harness, worker, egress }: Measured): void {
  expose(metrics, 'session_log', log.counters);
  expose(metrics, 'harness', harness);
  metrics.gauge(
    { name: 'harness_running_sessions', help: 'Sessions whose turn runs here.' },
    () => worker.runningSessions,
  );
  metrics.gauge(
    { name: 'egress_open_connections', help: 'Connections out of sandboxes.' },
    () => egress.openConnections,
  );
  metrics.gauge({ name: 'egress_allowed', help: 'Connections that were let out.' }, () => egress.counters.allowed);
  metrics.gauge({ name: 'egress_refused', help: 'Connections that were refused.' }, () =>
    Object.values(egress.counters.refused).reduce((sum, count) => sum + count, 0),
  );
}

function expose<C extends object>(metrics: Metrics, part: string, counters: C): void {
  for (const name of Object.keys(counters) as (keyof C & string)[]) {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const help = `${part.replace('_', ' ')}: ${snake.replaceAll('_', ' ')}.`;
    metrics.gauge({ name: `${part}_${snake}`, help }, () => Number(counters[name]));
  }
}
