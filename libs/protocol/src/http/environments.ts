/** Environments: where an agent's tools run. The object, and the bodies that create and update one. */
import { z } from 'zod';

import { characters } from './characters.ts';
import { metadataPatchSchema, metadataSchema } from './metadata.ts';
import { pageOf } from './paging.ts';
import { addProblems, type Problem } from './problem.ts';

/** In the order in which packages are installed. */
export const packageManagers = ['apt', 'cargo', 'gem', 'go', 'npm', 'pip'] as const;
export type PackageManager = (typeof packageManagers)[number];

export const networkingSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('unrestricted') }),
  z.object({
    type: z.literal('limited'),
    allowed_hosts: z.array(z.string()),
    allow_mcp_servers: z.boolean(),
    allow_package_managers: z.boolean(),
  }),
]);
export type Networking = z.infer<typeof networkingSchema>;

export const packagesSchema = z.object({
  type: z.literal('packages').optional(),
  apt: z.array(z.string()),
  cargo: z.array(z.string()),
  gem: z.array(z.string()),
  go: z.array(z.string()),
  npm: z.array(z.string()),
  pip: z.array(z.string()),
});
export type Packages = z.infer<typeof packagesSchema>;

export const cloudConfigSchema = z.object({
  type: z.literal('cloud'),
  networking: networkingSchema,
  packages: packagesSchema,
});
export type CloudConfig = z.infer<typeof cloudConfigSchema>;

export const environmentConfigSchema = z.discriminatedUnion('type', [
  cloudConfigSchema,
  z.object({ type: z.literal('self_hosted') }),
]);
export type EnvironmentConfig = z.infer<typeof environmentConfigSchema>;

/** What an environment says: everything but its identity and times. */
export const environmentSettingsSchema = z.object({
  name: z.string(),
  description: z.string().nullable(),
  config: environmentConfigSchema,
  metadata: z.record(z.string(), z.string()),
  scope: z.enum(['organization', 'account']).optional(),
});
export type EnvironmentSettings = z.infer<typeof environmentSettingsSchema>;

export const environmentSchema = environmentSettingsSchema.extend({
  type: z.literal('environment'),
  id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  archived_at: z.string().nullable(),
});
export type Environment = z.infer<typeof environmentSchema>;

export const deletedEnvironmentSchema = z.object({ type: z.literal('environment_deleted'), id: z.string() });
export type DeletedEnvironment = z.infer<typeof deletedEnvironmentSchema>;

const maxHosts = 1000;
const maxPackages = 1000;

const hostPattern = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;
const allowedHostSchema = z
  .string()
  .refine(
    (host) => host.length <= 255 && hostPattern.test(host),
    'must be a host name or *.host name, without scheme, port or path',
  );

/** A leading hyphen would reach the package manager as an option. */
const packageSchema = z
  .string()
  .regex(/^[^\s-][^\s]{0,254}$/, 'must be a package with its version, without spaces or leading hyphen');
const packageListSchema = z
  .array(packageSchema)
  .max(maxPackages, `must have at most ${maxPackages} packages`)
  .nullish();

export const networkingParamsSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('unrestricted') }),
  z.strictObject({
    type: z.literal('limited'),
    allowed_hosts: z.array(allowedHostSchema).max(maxHosts, `must have at most ${maxHosts} hosts`).nullish(),
    allow_mcp_servers: z.boolean().nullish(),
    allow_package_managers: z.boolean().nullish(),
  }),
]);
export type NetworkingParams = z.infer<typeof networkingParamsSchema>;

export const packagesParamsSchema = z.strictObject({
  type: z.literal('packages').optional(),
  apt: packageListSchema,
  cargo: packageListSchema,
  gem: packageListSchema,
  go: packageListSchema,
  npm: packageListSchema,
  pip: packageListSchema,
});
export type PackagesParams = z.infer<typeof packagesParamsSchema>;

export const environmentConfigParamsSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('cloud'),
    networking: networkingParamsSchema.nullish(),
    packages: packagesParamsSchema.nullish(),
  }),
  z.strictObject({ type: z.literal('self_hosted') }),
]);
export type EnvironmentConfigParams = z.infer<typeof environmentConfigParamsSchema>;

const nameSchema = characters(1, 256);
const descriptionSchema = characters(0, 2048);
const scopeSchema = z
  .enum(['organization', 'account'])
  .refine((scope) => scope !== 'account', "'account' is not supported; use 'organization'");

/** Packages come from registries, which a limited network has to open. Request and response forms both fit. */
export function environmentProblems(config: EnvironmentConfigParams | null | undefined): Problem[] {
  if (config?.type !== 'cloud' || config.networking?.type !== 'limited') return [];
  if (config.networking.allow_package_managers === true) return [];
  const packages = config.packages;
  if (!packageManagers.some((manager) => (packages?.[manager] ?? []).length > 0)) return [];
  const path = ['config', 'networking', 'allow_package_managers'];
  return [{ path, message: 'must be true when packages are given in a limited network' }];
}

/** Body of `POST /v1/environments`. */
export const createEnvironmentBodySchema = z
  .strictObject({
    name: nameSchema,
    description: descriptionSchema.nullish(),
    config: environmentConfigParamsSchema.nullish(),
    metadata: metadataSchema.optional(),
    scope: scopeSchema.nullish(),
  })
  .superRefine(({ config }, ctx) => addProblems(ctx, environmentProblems(config)));
export type CreateEnvironmentBody = z.infer<typeof createEnvironmentBodySchema>;

/** Body of `POST /v1/environments/{environment_id}`; rules between fields are checked on the result. */
export const updateEnvironmentBodySchema = z.strictObject({
  name: nameSchema.nullish(),
  description: descriptionSchema.nullish(),
  config: environmentConfigParamsSchema.nullish(),
  metadata: metadataPatchSchema.nullish(),
  scope: scopeSchema.nullish(),
});
export type UpdateEnvironmentBody = z.infer<typeof updateEnvironmentBodySchema>;

export const environmentPageSchema = pageOf(environmentSchema);
export type EnvironmentPage = z.infer<typeof environmentPageSchema>;
