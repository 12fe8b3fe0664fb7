/**
 * What a client's wish writes into its session, or why it may not. Commands write nothing while they only wait: a message
 * to a running session is queued, and its holder sees it through the tail.
 */
import type {
  AgentId,
  ArchiveSession,
  CreateSession,
  DeleteSession,
  Instant,
  SendEvents,
  SessionAgent,
  ThreadId,
  UpdateSession,
} from '@manyhands/protocol';
import type { SessionState } from './state.ts';
import { decideEvents } from './decide-events.ts';
import { refuse, refuseEnded, type DecideContext, type Decision } from './decision.ts';
import { evolveSession, turnOf } from './evolve.ts';
import { Plan } from './plan.ts';
import { addIdle, addRunning } from './turn-end.ts';
import { isBudgetReached, microcentsPerCent, usageAt } from './usage.ts';
import { blockingIds } from '../harness/calls.ts';

/** Contents that only the payloads know, loaded by the command's caller. */
export interface SessionContents {
  title: string | null;
  metadata: Record<string, string>;
  agent: SessionAgent;
}

const nothing: Decision = { kind: 'write', records: [] };

export function decideCreate(command: CreateSession, threadId: ThreadId, context: DecideContext): Decision {
  const { agent, environment, title, metadata } = command;
  const created = {
    kind: 'session.created' as const,
    id: context.newId(),
    facets: {
      sessionId: command.sessionId,
      workspaceId: command.workspaceId,
      agentId: agent.id as AgentId,
      agentVersion: agent.version,
      environmentId: command.environmentId,
      threadId,
      budgetCents: command.budgetCents,
      model: agent.model.id,
      agentChars: charsOfAgent(agent),
      sources: command.sources,
    },
    payload: { title, metadata, agent, environment },
  };
  const state = evolveSession(null, {
    ...created,
    threadId: null,
    seq: 1 as SessionState['seq'],
    time: context.now,
  });
  if (command.initialEvents.length === 0) return { kind: 'write', records: [created] };
  const events = decideEvents(state, command.initialEvents, context);
  if (events.kind === 'refuse') return events;
  return { kind: 'write', records: [created, ...events.records] };
}

export function decideSend(state: SessionState, command: SendEvents, context: DecideContext): Decision {
  return decideEvents(state, command.events, context);
}

/** Title, metadata and budget in any state but terminated; the agent only while nothing runs. */
export function decideUpdate(
  state: SessionState,
  command: UpdateSession,
  current: SessionContents,
  context: DecideContext,
): Decision {
  const ended = refuseEnded(state, 'cannot be updated');
  if (ended) return ended;
  if (command.agent && state.phase.status !== 'idle') {
    return refuse('session_running', 'The agent of a session can only be updated while the session is idle.');
  }
  const budget = command.budgetCents === undefined ? null : checkBudget(state, command.budgetCents, context.now);
  if (budget) return budget;
  const changes = changesOf(state, command, current);
  if (changes.changed.length === 0) return nothing;
  const plan = new Plan(state, context.now, context.newId);
  const { changed, budgetCents, agentChars, ...payload } = changes;
  const facets = {
    changed,
    ...(budgetCents !== undefined && { budgetCents }),
    ...(agentChars !== undefined && { agentChars }),
  };
  plan.add('session.updated', facets, payload);
  if (changed.includes('budget')) resumeAfterBudget(plan);
  return { kind: 'write', records: plan.records };
}

function checkBudget(state: SessionState, budgetCents: number | null, now: Instant): Decision | null {
  if (budgetCents === null) return null;
  if (state.budgetCents === null) {
    return refuse('budget_create_only', 'A budget can only be set when the session is created.');
  }
  if (budgetCents === state.budgetCents) return null;
  if (budgetCents * microcentsPerCent <= usageAt(state, now).cost) {
    return refuse('budget_not_raised', "budget.max_list_cost must be greater than the session's consumed list cost");
  }
  return null;
}

interface Changes {
  changed: ('title' | 'metadata' | 'agent' | 'budget')[];
  title?: string | null;
  metadata?: Record<string, string>;
  agent?: SessionAgent;
  budgetCents?: number | null;
  agentChars?: number;
}

function changesOf(state: SessionState, command: UpdateSession, current: SessionContents): Changes {
  const changes: Changes = { changed: [] };
  if (command.title !== undefined && command.title !== current.title) {
    changes.changed.push('title');
    changes.title = command.title;
  }
  const metadata = patched(current.metadata, command.metadata);
  if (metadata) {
    changes.changed.push('metadata');
    changes.metadata = metadata;
  }
  const agent = { ...current.agent };
  if (command.agent?.tools) agent.tools = command.agent.tools;
  if (command.agent?.mcpServers) agent.mcp_servers = command.agent.mcpServers;
  if (JSON.stringify(agent) !== JSON.stringify(current.agent)) {
    changes.changed.push('agent');
    changes.agent = agent;
    changes.agentChars = charsOfAgent(agent);
  }
  if (command.budgetCents !== undefined && command.budgetCents !== state.budgetCents) {
    changes.changed.push('budget');
    changes.budgetCents = command.budgetCents;
  }
  return changes;
}

function patched(metadata: Record<string, string>, patch: UpdateSession['metadata']): Record<string, string> | null {
  if (!patch) return null;
  const result = new Map(Object.entries(metadata));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, value);
  }
  const unchanged =
    result.size === Object.keys(metadata).length && [...result].every(([key, value]) => metadata[key] === value);
  return unchanged ? null : Object.fromEntries(result);
}

/** A raised or removed budget lets the turn that it stopped go on; one that had ended anyway is now simply idle. */
function resumeAfterBudget(plan: Plan): void {
  const { phase } = plan.state;
  if (phase.status !== 'idle' || phase.stopReason?.type !== 'budget_reached') return;
  if (isBudgetReached(plan.state, plan.now)) return;
  const blocking = blockingIds(plan.state);
  const hasWork = turnOf(phase)?.next === 'model' || plan.state.queue.some((input) => input.kind === 'user.message');
  if (blocking.length > 0) addIdle(plan, { type: 'requires_action', eventIds: blocking });
  else if (hasWork) addRunning(plan);
  else addIdle(plan, { type: 'end_turn' });
}

export function decideArchive(state: SessionState, _command: ArchiveSession, context: DecideContext): Decision {
  if (state.archivedAt !== null) return nothing;
  const busy = refuseWhileRunning(state, 'archived');
  if (busy) return busy;
  const plan = new Plan(state, context.now, context.newId);
  plan.add('session.thread_status_terminated', { threadId: state.threadId }, null);
  plan.add('session.status_terminated', { cause: 'archived' }, null);
  return { kind: 'write', records: plan.records };
}

export function decideDelete(state: SessionState, _command: DeleteSession, context: DecideContext): Decision {
  const busy = refuseWhileRunning(state, 'deleted');
  if (busy) return busy;
  const plan = new Plan(state, context.now, context.newId);
  plan.add('session.deleted', {}, null);
  return { kind: 'write', records: plan.records };
}

function refuseWhileRunning(state: SessionState, done: string): Decision | null {
  const { status } = state.phase;
  if (status !== 'running' && status !== 'rescheduling') return null;
  return refuse(
    'session_running',
    `The session is ${status} and cannot be ${done}. Send a user.interrupt event and wait until it is idle.`,
  );
}

/** Size of what every prompt of an agent begins with, in characters. */
export function charsOfAgent(agent: Pick<SessionAgent, 'system' | 'tools'>): number {
  return (agent.system?.length ?? 0) + JSON.stringify(agent.tools).length;
}
