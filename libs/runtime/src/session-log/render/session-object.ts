/** The session and its primary thread as objects of the wire. */
import { usageAt, type SessionContents, type SessionState } from '@manyhands/core';
import type { Instant, Session, SessionThread } from '@manyhands/protocol';
import { isoTime, isoTimeOrNull, wireBudget, wireStopReason, wireUsage } from './wire-values.ts';

export function renderSession(state: SessionState, contents: SessionContents, now: Instant): Session {
  const usage = usageAt(state, now);
  const { phase } = state;
  const stopReason = state.lastStop && wireStopReason(state.lastStop);
  return {
    type: 'session',
    id: state.sessionId,
    status: phase.status,
    stop_reason: stopReason,
    title: contents.title,
    metadata: contents.metadata,
    environment_id: state.environmentId,
    agent: contents.agent,
    resources: [],
    vault_ids: [],
    budget: wireBudget(state.budgetCents),
    usage: wireUsage(usage),
    stats: { active_seconds: usage.activeMs / 1000, duration_seconds: secondsSinceCreation(state, now) },
    outcome_evaluations: [],
    created_at: isoTime(state.createdAt),
    updated_at: isoTime(state.updatedAt),
    archived_at: isoTimeOrNull(state.archivedAt),
  };
}

export function renderThread(state: SessionState, contents: SessionContents, now: Instant): SessionThread {
  const usage = usageAt(state, now);
  const { multiagent: _, ...agent } = contents.agent;
  const stats = {
    active_seconds: usage.activeMs / 1000,
    duration_seconds: secondsSinceCreation(state, now),
    startup_seconds: state.startedAt === null ? 0 : (state.startedAt - state.createdAt) / 1000,
  };
  return {
    type: 'session_thread',
    id: state.threadId,
    session_id: state.sessionId,
    parent_thread_id: null,
    agent,
    status: state.phase.status,
    stats: state.startedAt === null ? null : stats,
    usage: state.lastStop ? wireUsage(usage) : null,
    workflow_run_id: null,
    created_at: isoTime(state.createdAt),
    updated_at: isoTime(state.updatedAt),
    archived_at: isoTimeOrNull(state.archivedAt),
  };
}

/** Frozen at termination. */
function secondsSinceCreation(state: SessionState, now: Instant): number {
  const end = state.phase.status === 'terminated' ? (state.archivedAt ?? state.updatedAt) : Math.max(now, state.time);
  return (end - state.createdAt) / 1000;
}
