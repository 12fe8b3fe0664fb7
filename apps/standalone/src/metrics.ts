/** The counters of every part, under their names in Prometheus; docs/operations.md lists them. */
import type { EgressProxy } from '@manyhands/adapter-egress';
import type { Metrics } from '@manyhands/platform';
import type { HarnessCounters, SessionLogCounters, SessionLogService, Worker } from '@manyhands/runtime';

export interface Measured {
  log: SessionLogService;
  harness: HarnessCounters;
  worker: Worker;
  egress: EgressProxy;
}

/** Name and help of each counter; a name without `_total` is a gauge. */
const logMetrics: Readonly<Record<keyof SessionLogCounters, [name: string, help: string]>> = {
  acceptedCommits: ['commits_accepted_total', 'Commits that the fold accepted.'],
  refusedCommits: ['commits_refused_total', 'Commits that the fold refused: conflicts, old epochs, second copies.'],
  refusedMessages: ['messages_refused_total', 'Messages in the log that are no commit. More than 0 wants a look.'],
  foldedRecords: ['records_folded_total', 'Records that the fold took.'],
  brokenStreams: ['streams_broken_total', 'Sessions that cannot be folded any more. More than 0 wants a look.'],
  appends: ['appends_total', 'Appends that were answered.'],
  appendConflicts: ['append_conflicts_total', 'Appends that another writer was before.'],
  appendMsTotal: ['append_milliseconds_total', 'Time of all appends together, in milliseconds.'],
  appendMsMax: ['append_milliseconds_max', 'Longest append, in milliseconds.'],
  batches: ['batches_total', 'Writes of the log, each with one fsync.'],
  resentBatches: ['batches_resent_total', 'Writes whose outcome was unknown and that were made again.'],
  barriers: ['barriers_total', 'Questions for the end of the log.'],
  foldMsMax: ['fold_milliseconds_max', 'Longest fold of one transaction, in milliseconds.'],
  erasedSessions: ['sessions_erased_total', 'Deleted sessions whose contents are erased.'],
  lag: ['lag', 'Messages that are not folded yet.'],
};

const harnessMetrics: Readonly<Record<keyof HarnessCounters, [name: string, help: string]>> = {
  claims: ['claims_total', 'Sessions that this worker claimed.'],
  takeovers: ['takeovers_total', 'Claims over the lease of another or earlier worker.'],
  fenced: ['fenced_total', 'Turns that ended because another worker had taken the session.'],
  turnsAbandoned: ['turns_abandoned_total', 'Turns that ended without a release.'],
  modelRequests: ['model_requests_total', 'Requests to the model.'],
  modelFailures: ['model_failures_total', 'Requests to the model that failed.'],
  inputTokens: ['input_tokens_total', 'Tokens of prompts, cached ones included.'],
  outputTokens: ['output_tokens_total', 'Tokens of answers.'],
  toolCalls: ['tool_calls_total', 'Tool calls that were started or joined.'],
  handsLost: ['hands_lost_total', 'Sandboxes that were lost while a call needed them.'],
};

export function exposeMetrics(metrics: Metrics, { log, harness, worker, egress }: Measured): void {
  expose(metrics, 'session_log', logMetrics, log.counters);
  expose(metrics, 'harness', harnessMetrics, harness);
  const show = showIn(metrics);
  show('harness_running_sessions', 'Sessions whose turn runs here.', () => worker.runningSessions);
  show('egress_open_connections', 'Connections out of sandboxes.', () => egress.openConnections);
  show('egress_allowed_total', 'Connections that were let out.', () => egress.counters.allowed);
  show('egress_refused_total', 'Connections that were refused.', () =>
    Object.values(egress.counters.refused).reduce((sum, count) => sum + count, 0),
  );
}

function expose<Name extends string>(
  metrics: Metrics,
  part: string,
  known: Readonly<Record<Name, [name: string, help: string]>>,
  counters: Readonly<Record<Name, number>>,
): void {
  for (const field of Object.keys(known) as Name[]) {
    const [name, help] = known[field];
    showIn(metrics)(`${part}_${name}`, help, () => counters[field]);
  }
}

function showIn(metrics: Metrics): (name: string, help: string, read: () => number) => void {
  return (name, help, read) => {
    if (name.endsWith('_total')) metrics.counter({ name, help }, read);
    else metrics.gauge({ name, help }, read);
  };
}
