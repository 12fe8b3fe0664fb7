/** Public events, made from records. What a record only points at (`responseSeq`, `confirmationSeq`) is looked up. */
import { resultText } from '@manyhands/core';
import type {
  AgentToolUseEvent,
  Instant,
  LogRecord,
  ModelBlock,
  Seq,
  SessionError,
  SessionEvent,
  SessionUpdatedEvent,
  StopDetails,
  StopReasonFacet,
  ToolResultContent,
} from '@manyhands/protocol';
import { isoTime, isoTimeOrNull, wireBudget, wireModelUsage, wireStopReason, wireUsage } from './wire-values.ts';

export interface EventContext {
  /** null while the event waits. */
  processedAt: Instant | null;
  agentName: string;
  record: (seq: Seq) => LogRecord | null;
}

/** null for a record that is no event. */
export function renderEvent(record: LogRecord, context: EventContext): SessionEvent | null {
  const sent = { id: record.id, processed_at: isoTimeOrNull(context.processedAt) };
  const emitted = { id: record.id, processed_at: isoTime(context.processedAt ?? record.time) };
  const thread = { agent_name: context.agentName };
  switch (record.kind) {
    case 'user.message':
    case 'system.message':
      return { type: record.kind, ...sent, content: record.payload.content } as SessionEvent;
    case 'user.interrupt': {
      const { sessionThreadId } = record.facets;
      return {
        type: record.kind,
        ...sent,
        ...(sessionThreadId !== undefined && { session_thread_id: sessionThreadId }),
      };
    }
    case 'user.tool_confirmation': {
      const denyMessage = record.payload?.denyMessage ?? null;
      const { toolUseId, result } = record.facets;
      const denied = denyMessage === null ? {} : { deny_message: denyMessage };
      return { type: record.kind, ...sent, tool_use_id: toolUseId, result, ...denied };
    }
    case 'user.custom_tool_result': {
      const { toolUseId, isError, cause } = record.facets;
      const content = cause ? causeContent(resultText(cause)) : record.payload?.content;
      const answer = { ...(content && { content }), ...(isError !== undefined && { is_error: isError }) };
      return { type: record.kind, ...emitted, custom_tool_use_id: toolUseId, ...answer };
    }
    case 'agent.message': {
      const blocks = responseBlocks(context.record(record.facets.responseSeq));
      const content = record.facets.blocks.map((index) => ({ type: 'text' as const, text: textOf(blocks[index]) }));
      return { type: record.kind, ...emitted, content };
    }
    case 'agent.tool_use': {
      const block = responseBlocks(context.record(record.facets.responseSeq))[record.facets.block];
      return { type: record.kind, ...emitted, ...callOf(block), ...permissionOf(record) };
    }
    case 'agent.custom_tool_use': {
      const block = responseBlocks(context.record(record.facets.responseSeq))[record.facets.block];
      return { type: record.kind, ...emitted, ...callOf(block) };
    }
    case 'agent.tool_result': {
      const { toolUseId, isError, cause, confirmationSeq } = record.facets;
      const denyMessage = confirmationSeq === undefined ? null : denyMessageOf(context.record(confirmationSeq));
      const content = cause ? causeContent(resultText(cause, denyMessage)) : (record.payload?.content ?? []);
      return { type: record.kind, ...emitted, tool_use_id: toolUseId, content, is_error: isError };
    }
    case 'session.updated':
      return { type: record.kind, ...emitted, ...changesOf(record) };
    case 'session.usage': {
      const { usage, budgetCents } = record.facets;
      return { type: record.kind, ...emitted, usage: wireUsage(usage), budget: wireBudget(budgetCents) };
    }
    case 'session.error': {
      const { errorType, retryStatus } = record.facets;
      // The error kinds that carry more than this belong to parts that no server of ours has yet.
      const error = {
        type: errorType,
        message: record.payload.message,
        retry_status: { type: retryStatus },
      } as SessionError;
      return { type: record.kind, ...emitted, error };
    }
    case 'session.status_idle':
      return { type: record.kind, ...emitted, ...stopOf(record.facets.stopReason, record.payload?.stopDetails) };
    case 'session.thread_status_idle': {
      const { threadId, stopReason } = record.facets;
      return {
        type: record.kind,
        ...emitted,
        ...thread,
        session_thread_id: threadId,
        ...stopOf(stopReason, record.payload?.stopDetails),
      };
    }
    case 'session.thread_status_running':
    case 'session.thread_status_rescheduled':
    case 'session.thread_status_terminated':
      return { type: record.kind, ...emitted, ...thread, session_thread_id: record.facets.threadId };
    case 'span.model_request_end': {
      const { startId, isError, usage } = record.facets;
      return {
        type: record.kind,
        ...emitted,
        model_request_start_id: startId,
        is_error: isError,
        model_usage: wireModelUsage(usage),
      };
    }
    case 'agent.thinking':
    case 'agent.thread_context_compacted':
    case 'session.status_running':
    case 'session.status_rescheduled':
    case 'session.status_terminated':
    case 'session.deleted':
    case 'span.model_request_start':
      return { type: record.kind, ...emitted };
    default:
      return null;
  }
}

function responseBlocks(record: LogRecord | null): readonly ModelBlock[] {
  return record?.kind === 'model.response' ? record.payload.blocks : [];
}

function textOf(block: ModelBlock | undefined): string {
  return typeof block?.['text'] === 'string' ? block['text'] : '';
}

function callOf(block: ModelBlock | undefined): { name: string; input: Record<string, unknown> } {
  const input = block?.['input'];
  return {
    name: typeof block?.['name'] === 'string' ? block['name'] : '',
    // A call that was cut off may have no object yet; the wire knows objects only.
    input:
      typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Record<string, unknown>) : {},
  };
}

function permissionOf(
  record: LogRecord<'agent.tool_use'>,
): Pick<AgentToolUseEvent, 'evaluated_permission' | 'evaluation'> {
  const { permission, policy } = record.facets;
  if (policy === null) return { evaluated_permission: permission };
  if (policy !== 'auto') return { evaluated_permission: permission, evaluation: { type: policy } };
  const evaluated = permission === 'allow' ? { type: permission } : { type: permission, reason_code: 'indeterminate' };
  return { evaluated_permission: permission, evaluation: { type: 'auto', evaluated_permission: evaluated } };
}

function denyMessageOf(record: LogRecord | null): string | null {
  return record?.kind === 'user.tool_confirmation' ? (record.payload?.denyMessage ?? null) : null;
}

function causeContent(text: string): ToolResultContent[] {
  return [{ type: 'text', text }];
}

function changesOf(
  record: LogRecord<'session.updated'>,
): Pick<SessionUpdatedEvent, 'title' | 'metadata' | 'agent' | 'budget'> {
  const { changed, budgetCents } = record.facets;
  const { title, metadata, agent } = record.payload;
  return {
    ...(changed.includes('title') && { title: title ?? null }),
    ...(changed.includes('metadata') && { metadata: metadata ?? {} }),
    ...(changed.includes('agent') && agent && { agent }),
    ...(changed.includes('budget') && { budget: wireBudget(budgetCents ?? null) }),
  };
}

type StoredDetails = { category: string | null; explanation: string | null } | undefined;

function stopOf(stop: StopReasonFacet, details: StoredDetails) {
  const isRefusal = stop.type === 'refusal';
  const { category = null, explanation = null } = details ?? {};
  return {
    stop_reason: wireStopReason(stop),
    stop_details: isRefusal ? ({ type: 'refusal', category, explanation } as StopDetails) : null,
  };
}
