/** Commands to a workspace's agents. */
import { decideArchiveAgent, decideCreateAgent, decideUpdateAgent, type AgentState } from '@manyhands/core';
import { SessionLogError } from '@manyhands/ports';
import { workspaceStream } from '@manyhands/protocol';
import type { AgentConfig, ArchiveAgent, CreateAgent, UpdateAgent } from '@manyhands/protocol';
import type { StreamRow } from '../copy/stream-rows.ts';
import { notFound, type CommandDecision, type CommandDeps } from './command-deps.ts';

export type AgentCommand = CreateAgent | UpdateAgent | ArchiveAgent;

export async function changeAgent(command: AgentCommand, deps: CommandDeps): Promise<CommandDecision> {
  const row = deps.states.row(workspaceStream(command.workspaceId));
  const agent = deps.copy.resources.agent(command.workspaceId, command.agentId);
  if (command.type === 'create-agent') return decideCreateAgent(command, agent, deps.newId);
  if (!row || !agent) return notFound('agent');
  if (command.type === 'archive-agent') return decideArchiveAgent(agent, deps.newId);
  const stored = await agentConfig(row, agent, deps);
  return decideUpdateAgent(command, agent, stored, deps.defaultEffort, deps.newId);
}

async function agentConfig(row: StreamRow, agent: AgentState, deps: CommandDeps): Promise<AgentConfig> {
  const [record] = await deps.reader.pick(row, [agent.configSeq]);
  if (record?.kind === 'agent.created' || record?.kind === 'agent.updated') return record.payload.agent;
  throw new SessionLogError('stream-broken', `the configuration of ${agent.id} is not where its state says`);
}
