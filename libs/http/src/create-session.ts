/** Creates a session: resolves what the body refers to, and hands the log a command that needs nothing else. */
import type { Positioned } from '@manyhands/ports';
import {
  overrideAgent,
  resolveEnvironment,
  unsupportedInSession,
  type Agent,
  type AgentId,
  type CreateSession,
  type CreateSessionBody,
  type Environment,
  type EnvironmentSettings,
  type IdempotencyMark,
  type Session,
  type SessionAgent,
  type SessionAgentParams,
  type SessionId,
  type WorkspaceId,
} from '@manyhands/protocol';

import { ApiError, doneOrRefuse, refuse } from './api-error.ts';
import type { Identity } from './api-keys.ts';
import { clientEvents, withAvailableTools } from './client-events.ts';
import { newId } from './idempotency.ts';
import { found, foundEnvironment, parseEnvironmentId, parseId, refuseUnsupported } from './parse.ts';
import type { PublicApi } from './public-api.ts';
import type { OpenStreams } from './stream/open-streams.ts';

type Snapshots = Pick<CreateSession, 'agent' | 'environment' | 'sources'>;

export async function createSession(
  body: CreateSessionBody,
  request: { identity: Identity; mark: IdempotencyMark | null },
  { api, streams }: { api: PublicApi; streams: OpenStreams },
): Promise<Session> {
  refuseUnsupported(unsupportedInSession(body));
  const { workspaceId, apiKeyId } = request.identity;
  const sessionId = newId('session', request.mark, api.clock);
  const initialEvents = clientEvents(body.initial_events ?? []);
  const command: CreateSession = {
    type: 'create-session',
    workspaceId,
    idempotency: request.mark,
    sessionId,
    title: body.title ?? null,
    metadata: body.metadata ?? {},
    environmentId: parseEnvironmentId(body.environment_id),
    budgetCents: body.budget === undefined ? null : Number(body.budget.max_list_cost.amount),
    initialEvents,
    ...(await snapshots(body, sessionId, request, api)),
  };
  const done = doneOrRefuse(await api.sessions.execute(command));
  if (initialEvents.length > 0 && !done.repeated)
    await streams.noteClientEvents({ sessionId, apiKeyId }, done.firstSeq);
  // As it was created, also when this is a repetition or the first turn has begun.
  return found(await api.sessions.sessionAtCreate(workspaceId, sessionId), 'session');
}

/**
 * A repetition is answered even if its agent was archived meanwhile. Its stream stands, so the log compares hashes and
 * writes nothing of the snapshots given here.
 */
async function snapshots(
  body: CreateSessionBody,
  sessionId: SessionId,
  { identity, mark }: { identity: Identity; mark: IdempotencyMark | null },
  api: PublicApi,
): Promise<Snapshots> {
  const { workspaceId } = identity;
  const earlier = mark === null ? null : await api.sessions.sessionAtCreate(workspaceId, sessionId);
  if (earlier !== null) return { agent: earlier.agent, environment: resolveEnvironment({ name: '' }), sources: [] };
  const [agent, environment] = await Promise.all([
    usableAgent(body.agent, workspaceId, api),
    usableEnvironment(body.environment_id, workspaceId, api),
  ]);
  const snapshot = sessionAgent(agent.value, body.agent, api);
  if (body.budget !== undefined && !api.options.models.hasPrice(snapshot.model.id)) {
    throw new ApiError('model_not_budgetable', `budget: the model ${snapshot.model.id} has no list price`);
  }
  const sources = [agent, environment].map(({ streamId, seq }) => ({ streamId, seq }));
  return { agent: snapshot, environment: settingsOf(environment.value), sources };
}

async function usableAgent(
  params: SessionAgentParams,
  workspaceId: WorkspaceId,
  api: PublicApi,
): Promise<Positioned<Agent>> {
  const [id, version] = typeof params === 'string' ? [params, null] : [params.id, params.version ?? null];
  const agentId: AgentId = parseId('agent', id);
  const what = version === null ? 'agent' : `version ${version} of an agent`;
  const agent = found(await api.sessions.agent(workspaceId, agentId, version), what);
  if (agent.value.archived_at !== null) {
    throw new ApiError('agent_archived', 'agent: an archived agent cannot start new sessions');
  }
  return agent;
}

async function usableEnvironment(
  id: string,
  workspaceId: WorkspaceId,
  api: PublicApi,
): Promise<Positioned<Environment>> {
  const environment = foundEnvironment(await api.sessions.environment(workspaceId, parseEnvironmentId(id)));
  if (environment.value.archived_at === null) return environment;
  throw new ApiError('environment_archived', 'environment_id: an archived environment cannot be used by new sessions');
}

function sessionAgent(agent: Agent, params: SessionAgentParams, api: PublicApi): SessionAgent {
  if (agent.multiagent !== null) {
    throw new ApiError('not_supported', 'agent: multi-agent sessions are not supported yet');
  }
  const snapshot = snapshotOf(agent);
  if (typeof params === 'string' || params.type === 'agent') return snapshot;
  const available = withAvailableTools(params, api.options.hasWebSearch);
  const overridden = overrideAgent(snapshot, available, (model) => api.options.models.defaultEffort(model));
  return overridden.ok ? overridden.value : refuse(overridden.refusal);
}

/** Everything a session runs on; metadata and times stay with the agent. */
function snapshotOf(agent: Agent): SessionAgent {
  const { id, version, name, description, model, system, tools, mcp_servers, skills, execution_identity } = agent;
  const definition = { name, description, model, system, tools, mcp_servers, skills, execution_identity };
  return { type: 'agent', id, version, ...definition, multiagent: null };
}

function settingsOf({ name, description, config, metadata, scope }: Environment): EnvironmentSettings {
  return { name, description, config, metadata, scope };
}
