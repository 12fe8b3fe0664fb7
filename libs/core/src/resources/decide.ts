/**
 * What a wish writes into a workspace's resource stream, or why it may not. The configuration as it stands, and who else
 * has the wished name, are arguments: only payloads and rows beside the state know them.
 */
import { updateAgent, updateEnvironment } from '@manyhands/protocol';
import type {
  AgentConfig,
  CreateAgent,
  CreateEnvironment,
  DefaultEffort,
  EnvironmentId,
  EnvironmentSettings,
  EventId,
  Refusal,
  ResourceDraft,
  UpdateAgent,
  UpdateEnvironment,
} from '@manyhands/protocol';
import type { AgentState, EnvironmentState } from './state.ts';

export type ResourceDecision =
  { kind: 'write'; records: readonly ResourceDraft[] } | { kind: 'refuse'; refusal: Refusal };

export interface EnvironmentName {
  hash: string;
  /** Who has it, among the environments that are not deleted. */
  takenBy: EnvironmentId | null;
}

type NewId = () => EventId;

const nothing: ResourceDecision = { kind: 'write', records: [] };

export function decideCreateAgent(command: CreateAgent, before: AgentState | null, newId: NewId): ResourceDecision {
  if (before) return refuse('idempotency_key_reused', 'The agent was created before by another request.');
  const facets = { agentId: command.agentId, version: 1 };
  return write({ kind: 'agent.created', id: newId(), facets, payload: { agent: command.config } });
}

/** A stale version is refused even where the update would change nothing. */
export function decideUpdateAgent(
  command: UpdateAgent,
  agent: AgentState,
  stored: AgentConfig,
  defaultEffort: DefaultEffort,
  newId: NewId,
): ResourceDecision {
  if (agent.archivedAt !== null) return refuse('agent_archived', 'The agent is archived and cannot be updated.');
  const { version } = command.body;
  if (version !== undefined && version !== agent.version) {
    return refuse('agent_version_conflict', `The agent is at version ${agent.version}, not ${version}.`);
  }
  const updated = updateAgent(stored, command.body, defaultEffort);
  if (!updated.ok) return { kind: 'refuse', refusal: updated.refusal };
  if (!updated.changed) return nothing;
  const facets = { agentId: agent.id, version: agent.version + 1 };
  return write({ kind: 'agent.updated', id: newId(), facets, payload: { agent: updated.value } });
}

export function decideArchiveAgent(agent: AgentState, newId: NewId): ResourceDecision {
  if (agent.archivedAt !== null) return nothing;
  return write({ kind: 'agent.archived', id: newId(), facets: { agentId: agent.id }, payload: null });
}

export function decideCreateEnvironment(
  command: CreateEnvironment,
  before: EnvironmentState | null,
  name: EnvironmentName,
  newId: NewId,
): ResourceDecision {
  if (before) return refuse('idempotency_key_reused', 'The environment was created before by another request.');
  if (name.takenBy !== null) return nameTaken(command.settings.name);
  const facets = { environmentId: command.environmentId, nameHash: name.hash };
  return write({ kind: 'environment.created', id: newId(), facets, payload: { environment: command.settings } });
}

/** `nameOf` is asked for the name that the environment would have. */
export function decideUpdateEnvironment(
  command: UpdateEnvironment,
  environment: EnvironmentState,
  stored: EnvironmentSettings,
  nameOf: (name: string) => EnvironmentName,
  newId: NewId,
): ResourceDecision {
  if (environment.archivedAt !== null) {
    return refuse('environment_archived', 'The environment is archived and cannot be updated.');
  }
  const updated = updateEnvironment(stored, command.body);
  if (!updated.ok) return { kind: 'refuse', refusal: updated.refusal };
  const name = nameOf(updated.value.name);
  if (name.takenBy !== null && name.takenBy !== environment.id) return nameTaken(updated.value.name);
  if (!updated.changed) return nothing;
  const facets = { environmentId: environment.id, nameHash: name.hash };
  return write({ kind: 'environment.updated', id: newId(), facets, payload: { environment: updated.value } });
}

export function decideArchiveEnvironment(environment: EnvironmentState, newId: NewId): ResourceDecision {
  if (environment.archivedAt !== null) return nothing;
  const facets = { environmentId: environment.id };
  return write({ kind: 'environment.archived', id: newId(), facets, payload: null });
}

export function decideDeleteEnvironment(environment: EnvironmentState, newId: NewId): ResourceDecision {
  const facets = { environmentId: environment.id };
  return write({ kind: 'environment.deleted', id: newId(), facets, payload: null });
}

function refuse(code: Refusal['code'], message: string): ResourceDecision {
  return { kind: 'refuse', refusal: { code, message } };
}

function nameTaken(name: string): ResourceDecision {
  return refuse('environment_name_taken', `An environment with the name '${name}' exists already.`);
}

function write(record: ResourceDraft): ResourceDecision {
  return { kind: 'write', records: [record] };
}
