/**
 * Environments as they are stored: the create's defaults filled in, and an update merged onto them.
 *
 * - An omitted field stays, at every depth of a cloud `config`; null resets it to its default. A name cannot be cleared,
 *   so a null name stays too.
 * - `networking` of another type replaces; of the same type it merges field by field. So does `packages`, list by list.
 * - `config.type` cannot change. `metadata` is patched; null and "" delete a key.
 *
 * Whether the environment is archived and whether its name is free is for the caller to decide.
 */
import {
  environmentProblems,
  packageManagers,
  type CloudConfig,
  type CreateEnvironmentBody,
  type EnvironmentConfig,
  type EnvironmentConfigParams,
  type EnvironmentSettings,
  type Networking,
  type NetworkingParams,
  type Packages,
  type PackagesParams,
  type UpdateEnvironmentBody,
} from './environments.ts';
import { jsonEqual } from './json-equal.ts';
import { patchMetadata, patchedMetadataProblems } from './metadata.ts';
import { refusalOf, type Problem } from './problem.ts';
import type { Updated } from './updated.ts';

const noPackages: Packages = { type: 'packages', apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] };
const closedNetwork = { allowed_hosts: [], allow_mcp_servers: false, allow_package_managers: false };
const defaultConfig: CloudConfig = { type: 'cloud', networking: { type: 'unrestricted' }, packages: noPackages };

export function resolveEnvironment(body: CreateEnvironmentBody): EnvironmentSettings {
  return {
    name: body.name,
    description: body.description ?? null,
    config: body.config?.type === 'self_hosted' ? body.config : mergeCloud(defaultConfig, body.config ?? defaultConfig),
    metadata: body.metadata ?? {},
    scope: body.scope ?? 'organization',
  };
}

export function updateEnvironment(
  stored: EnvironmentSettings,
  body: UpdateEnvironmentBody,
): Updated<EnvironmentSettings> {
  const value: EnvironmentSettings = {
    name: body.name ?? stored.name,
    description: body.description === undefined ? stored.description : body.description,
    config: mergeConfig(stored.config, body.config),
    metadata: patchMetadata(stored.metadata, body.metadata, true),
    scope: body.scope === undefined ? stored.scope : (body.scope ?? 'organization'),
  };
  const problems = [
    ...typeProblems(stored, body),
    ...configProblems(body, value),
    ...patchedMetadataProblems(value.metadata),
  ];
  const refusal = refusalOf(problems);
  return refusal ? { ok: false, refusal } : { ok: true, value, changed: !jsonEqual(stored, value) };
}

function typeProblems(stored: EnvironmentSettings, { config }: UpdateEnvironmentBody): Problem[] {
  if (config == null || config.type === stored.config.type) return [];
  const message = `cannot change from '${stored.config.type}' to '${config.type}'`;
  return [{ path: ['config', 'type'], message, code: 'invalid_config_type_change' }];
}

function configProblems({ config }: UpdateEnvironmentBody, value: EnvironmentSettings): Problem[] {
  return config === undefined ? [] : environmentProblems(value.config);
}

/** A type that differs is refused beside this. */
function mergeConfig(stored: EnvironmentConfig, given: EnvironmentConfigParams | null | undefined): EnvironmentConfig {
  if (given === undefined || stored.type === 'self_hosted' || given?.type === 'self_hosted') return stored;
  return given === null ? defaultConfig : mergeCloud(stored, given);
}

function mergeCloud(stored: CloudConfig, given: Extract<EnvironmentConfigParams, { type: 'cloud' }>): CloudConfig {
  return {
    type: 'cloud',
    networking: mergeNetworking(stored.networking, given.networking),
    packages: mergePackages(stored.packages, given.packages),
  };
}

function mergeNetworking(stored: Networking, given: NetworkingParams | null | undefined): Networking {
  if (given === undefined) return stored;
  if (given === null) return defaultConfig.networking;
  if (given.type === 'unrestricted') return given;
  const before = stored.type === 'limited' ? stored : closedNetwork;
  return {
    type: 'limited',
    allowed_hosts: over(given.allowed_hosts, before.allowed_hosts, []),
    allow_mcp_servers: over(given.allow_mcp_servers, before.allow_mcp_servers, false),
    allow_package_managers: over(given.allow_package_managers, before.allow_package_managers, false),
  };
}

function mergePackages(stored: Packages, given: PackagesParams | null | undefined): Packages {
  if (given === undefined) return stored;
  const merged: Packages = { ...noPackages };
  for (const manager of packageManagers) {
    merged[manager] = over(given === null ? null : given[manager], stored[manager], []);
  }
  return merged;
}

function over<T>(given: T | null | undefined, stored: T, standard: T): T {
  return given === undefined ? stored : (given ?? standard);
}
