/** Workflow runs: background work in phases. No server of ours starts one yet; the types exist so that readers know them. */
import { z } from 'zod';

import { emittedEvent } from './event-envelope.ts';

const ofRun = { workflow_run_id: z.string() };

/** `max_workflow_runs_error` comes on `workflow_run.error` alone, with a null run id. */
export const workflowRunErrorSchema = z.object({
  type: z.enum(['timeout_error', 'program_error', 'thread_limit_error', 'unknown_error', 'max_workflow_runs_error']),
  message: z.string(),
});
export type WorkflowRunError = z.infer<typeof workflowRunErrorSchema>;

export const workflowRunCreatedEventSchema = z.object({
  type: z.literal('workflow_run.created'),
  ...emittedEvent,
  ...ofRun,
  name: z.string(),
  description: z.string().nullable(),
  phases: z.array(z.object({ id: z.string(), name: z.string(), description: z.string().nullable() })),
});
export type WorkflowRunCreatedEvent = z.infer<typeof workflowRunCreatedEventSchema>;

export const workflowRunStatusRunningEventSchema = z.object({
  type: z.literal('workflow_run.status_running'),
  ...emittedEvent,
  ...ofRun,
});
export type WorkflowRunStatusRunningEvent = z.infer<typeof workflowRunStatusRunningEventSchema>;

export const workflowRunStatusIdleEventSchema = z.object({
  type: z.literal('workflow_run.status_idle'),
  ...emittedEvent,
  ...ofRun,
});
export type WorkflowRunStatusIdleEvent = z.infer<typeof workflowRunStatusIdleEventSchema>;

export const workflowRunStatusEndedEventSchema = z.object({
  type: z.literal('workflow_run.status_ended'),
  ...emittedEvent,
  ...ofRun,
  result: z.discriminatedUnion('type', [
    z.object({ type: z.literal('completed') }),
    z.object({ type: z.literal('stopped') }),
    z.object({ type: z.literal('error'), error: workflowRunErrorSchema }),
  ]),
});
export type WorkflowRunStatusEndedEvent = z.infer<typeof workflowRunStatusEndedEventSchema>;

export const workflowRunErrorEventSchema = z.object({
  type: z.literal('workflow_run.error'),
  ...emittedEvent,
  workflow_run_id: z.string().nullable(),
  error: workflowRunErrorSchema,
});
export type WorkflowRunErrorEvent = z.infer<typeof workflowRunErrorEventSchema>;

export const workflowRunPhaseStartedEventSchema = z.object({
  type: z.literal('workflow_run.phase_started'),
  ...emittedEvent,
  ...ofRun,
  workflow_run_phase_id: z.string(),
});
export type WorkflowRunPhaseStartedEvent = z.infer<typeof workflowRunPhaseStartedEventSchema>;

export const workflowRunPhaseEndedEventSchema = z.object({
  type: z.literal('workflow_run.phase_ended'),
  ...emittedEvent,
  ...ofRun,
  workflow_run_phase_id: z.string(),
  phase_started_id: z.string(),
});
export type WorkflowRunPhaseEndedEvent = z.infer<typeof workflowRunPhaseEndedEventSchema>;
