/** Commands to a workspace's environments. */
import { createHash } from 'node:crypto';
import {
  decideArchiveEnvironment,
  decideCreateEnvironment,
  decideDeleteEnvironment,
  decideUpdateEnvironment,
  type EnvironmentName,
  type EnvironmentState,
} from '@manyhands/core';
import { SessionLogError } from '@manyhands/ports';
import { workspaceStream } from '@manyhands/protocol';
import type {
  ArchiveEnvironment,
  CreateEnvironment,
  DeleteEnvironment,
  EnvironmentSettings,
  UpdateEnvironment,
  WorkspaceId,
} from '@manyhands/protocol';
import type { StreamRow } from '../copy/stream-rows.ts';
import { notFound, type CommandDecision, type CommandDeps, type Row } from './command-deps.ts';

export type EnvironmentCommand = CreateEnvironment | UpdateEnvironment | ArchiveEnvironment | DeleteEnvironment;

export async function changeEnvironment(command: EnvironmentCommand, deps: CommandDeps): Promise<CommandDecision> {
  const { workspaceId } = command;
  const row = deps.states.row(workspaceStream(workspaceId));
  const environment = deps.copy.resources.environment(workspaceId, command.environmentId);
  const nameOf = (name: string): EnvironmentName => nameIn(workspaceId, name, row, deps);
  if (command.type === 'create-environment') {
    return decideCreateEnvironment(command, environment, nameOf(command.settings.name), deps.newId);
  }
  if (!row || !environment || environment.deletedAt !== null) return notFound('environment', 'environment_not_found');
  switch (command.type) {
    case 'archive-environment':
      return decideArchiveEnvironment(environment, deps.newId);
    case 'delete-environment':
      return decideDeleteEnvironment(environment, deps.newId);
    case 'update-environment': {
      const stored = await settingsOf(row, environment, deps);
      return decideUpdateEnvironment(command, environment, stored, nameOf, deps.newId);
    }
  }
}

function nameIn(workspaceId: WorkspaceId, name: string, row: Row, deps: CommandDeps): EnvironmentName {
  const hash = createHash('sha256').update(`${workspaceId}\n${name}`).digest('base64url');
  return { hash, takenBy: row && deps.copy.resources.environmentNamed(row.id, hash) };
}

async function settingsOf(
  row: StreamRow,
  environment: EnvironmentState,
  deps: CommandDeps,
): Promise<EnvironmentSettings> {
  const [record] = await deps.reader.pick(row, [environment.configSeq]);
  if (record?.kind === 'environment.created' || record?.kind === 'environment.updated')
    return record.payload.environment;
  throw new SessionLogError('stream-broken', `the settings of ${environment.id} are not where its state says`);
}
