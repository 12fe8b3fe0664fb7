export { SessionLogService, type SessionLogServiceOptions } from './session-log/session-log-service.ts';
export { problemOfLog, type LogBeforeOpening } from './session-log/fold/problem-of-log.ts';
export type { SessionLogCounters } from './session-log/counters.ts';
export {
  defaultHarnessSettings,
  newHarnessCounters,
  type HarnessCounters,
  type HarnessDeps,
  type HarnessFunctions,
  type HarnessSettings,
} from './harness/deps.ts';
export { HandsOfSession, type HandsDeps } from './harness/hands.ts';
export { PromptCache } from './harness/prompt-records.ts';
export { wake, type Drain, type WakeOutcome } from './harness/wake.ts';
export { Worker } from './harness/worker.ts';
export { HandSweep, type HandSweepDeps } from './sandbox/hand-sweep.ts';
