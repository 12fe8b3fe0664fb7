/**
 * The public events of a session, as they stand on the wire: 42 types that are stored, and two that exist on streams
 * only. The tag is the wire's own string, and an event's type has the same words (`agent.tool_use`, `AgentToolUseEvent`).
 */
import { z } from 'zod';

import * as agent from './session-event/agent-events.ts';
import { deltaEventSchema, startEventSchema } from './session-event/preview-events.ts';
import * as session from './session-event/session-events.ts';
import * as span from './session-event/span-events.ts';
import * as user from './session-event/user-events.ts';
import * as workflow from './session-event/workflow-events.ts';

/** What a client may send. */
export const sentEventSchema = z.discriminatedUnion('type', [
  user.userMessageEventSchema,
  user.userInterruptEventSchema,
  user.userToolConfirmationEventSchema,
  user.userCustomToolResultEventSchema,
  user.userToolResultEventSchema,
  user.userDefineOutcomeEventSchema,
  user.systemMessageEventSchema,
]);
export type SentEvent = z.infer<typeof sentEventSchema>;
export type SentEventType = SentEvent['type'];

export const sessionEventSchema = z.discriminatedUnion('type', [
  ...sentEventSchema.options,
  agent.agentMessageEventSchema,
  agent.agentThinkingEventSchema,
  agent.agentToolUseEventSchema,
  agent.agentToolResultEventSchema,
  agent.agentMcpToolUseEventSchema,
  agent.agentMcpToolResultEventSchema,
  agent.agentCustomToolUseEventSchema,
  agent.agentThreadMessageSentEventSchema,
  agent.agentThreadMessageReceivedEventSchema,
  agent.agentThreadContextCompactedEventSchema,
  session.sessionStatusRunningEventSchema,
  session.sessionStatusIdleEventSchema,
  session.sessionStatusRescheduledEventSchema,
  session.sessionStatusTerminatedEventSchema,
  session.sessionDeletedEventSchema,
  session.sessionUpdatedEventSchema,
  session.sessionUsageEventSchema,
  session.sessionErrorEventSchema,
  session.sessionThreadCreatedEventSchema,
  session.sessionThreadStatusRunningEventSchema,
  session.sessionThreadStatusIdleEventSchema,
  session.sessionThreadStatusRescheduledEventSchema,
  session.sessionThreadStatusTerminatedEventSchema,
  span.spanModelRequestStartEventSchema,
  span.spanModelRequestEndEventSchema,
  span.spanOutcomeEvaluationStartEventSchema,
  span.spanOutcomeEvaluationOngoingEventSchema,
  span.spanOutcomeEvaluationEndEventSchema,
  workflow.workflowRunCreatedEventSchema,
  workflow.workflowRunStatusRunningEventSchema,
  workflow.workflowRunStatusIdleEventSchema,
  workflow.workflowRunStatusEndedEventSchema,
  workflow.workflowRunErrorEventSchema,
  workflow.workflowRunPhaseStartedEventSchema,
  workflow.workflowRunPhaseEndedEventSchema,
]);
export type SessionEvent = z.infer<typeof sessionEventSchema>;
export type SessionEventType = SessionEvent['type'];
/** The event of one type: `SessionEventOf<'agent.tool_use'>`. */
export type SessionEventOf<T extends SessionEventType> = Extract<SessionEvent, { type: T }>;

/** Everything a stream may carry. */
export const streamedEventSchema = z.discriminatedUnion('type', [
  ...sessionEventSchema.options,
  startEventSchema,
  deltaEventSchema,
]);
export type StreamedEvent = z.infer<typeof streamedEventSchema>;

/** The values of the list's `types[]` filter: every stored type but `session.deleted`. */
export const listableEventTypes = [
  'user.message',
  'user.interrupt',
  'user.tool_confirmation',
  'user.custom_tool_result',
  'user.tool_result',
  'user.define_outcome',
  'system.message',
  'agent.message',
  'agent.thinking',
  'agent.tool_use',
  'agent.tool_result',
  'agent.mcp_tool_use',
  'agent.mcp_tool_result',
  'agent.custom_tool_use',
  'agent.thread_message_sent',
  'agent.thread_message_received',
  'agent.thread_context_compacted',
  'session.status_running',
  'session.status_idle',
  'session.status_rescheduled',
  'session.status_terminated',
  'session.updated',
  'session.usage',
  'session.error',
  'session.thread_created',
  'session.thread_status_running',
  'session.thread_status_idle',
  'session.thread_status_rescheduled',
  'session.thread_status_terminated',
  'span.model_request_start',
  'span.model_request_end',
  'span.outcome_evaluation_start',
  'span.outcome_evaluation_ongoing',
  'span.outcome_evaluation_end',
  'workflow_run.created',
  'workflow_run.status_running',
  'workflow_run.status_idle',
  'workflow_run.status_ended',
  'workflow_run.error',
  'workflow_run.phase_started',
  'workflow_run.phase_ended',
] as const satisfies readonly SessionEventType[];
export type ListableEventType = (typeof listableEventTypes)[number];

export const persistedEventTypes = [
  ...listableEventTypes,
  'session.deleted',
] as const satisfies readonly SessionEventType[];

export const sentEventTypes = [
  'user.message',
  'user.interrupt',
  'user.tool_confirmation',
  'user.custom_tool_result',
  'user.tool_result',
  'user.define_outcome',
  'system.message',
] as const satisfies readonly SentEventType[];

export type { BuiltinToolName } from './http/tools.ts';
export * from './session-event/agent-events.ts';
export * from './session-event/content-blocks.ts';
export * from './session-event/preview-events.ts';
export * from './session-event/session-error.ts';
export * from './session-event/session-events.ts';
export * from './session-event/span-events.ts';
export * from './session-event/stop.ts';
export * from './session-event/usage.ts';
export * from './session-event/user-events.ts';
export * from './session-event/workflow-events.ts';
