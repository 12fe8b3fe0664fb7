/** Agents and environments as objects of the wire. */
import type { AgentState, EnvironmentState } from '@manyhands/core';
import type { Agent, AgentConfig, Environment, EnvironmentSettings, Instant } from '@manyhands/protocol';
import { isoTime, isoTimeOrNull } from './wire-values.ts';

/** A version of an agent; `archived_at` is the agent's. */
export function renderAgent(
  state: AgentState,
  version: { version: number; time: Instant },
  config: AgentConfig,
): Agent {
  const isLatest = version.version === state.version;
  return {
    ...config,
    type: 'agent',
    id: state.id,
    version: version.version,
    created_at: isoTime(state.createdAt),
    updated_at: isoTime(isLatest ? state.updatedAt : version.time),
    archived_at: isoTimeOrNull(state.archivedAt),
  };
}

export function renderEnvironment(state: EnvironmentState, settings: EnvironmentSettings): Environment {
  return {
    ...settings,
    type: 'environment',
    id: state.id,
    created_at: isoTime(state.createdAt),
    updated_at: isoTime(state.updatedAt),
    archived_at: isoTimeOrNull(state.archivedAt),
  };
}
