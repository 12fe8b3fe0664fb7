/** Tools of an agent as requests give them: everything but names may be left out, null is the same as absent. */
import { z } from 'zod';

import { characters } from './characters.ts';
import { customToolParamsSchema } from './custom-tool.ts';
import { domainListProblems, domainListSchema } from './domain-list.ts';
import { addProblems, type Problem } from './problem.ts';
import {
  builtinToolNames,
  permissionPolicySchema,
  urlSourceFilterSchema,
  urlSourceSwitchSchema,
  userLocationSchema,
  type BuiltinToolName,
} from './tools.ts';

/** Names are unique, so a set can have no more entries; the bound also keeps a hostile list from being read at length. */
const maxConfigs = builtinToolNames.length;
const maxMcpConfigs = 256;

const defaults = { enabled: z.boolean().nullish(), permission_policy: permissionPolicySchema.nullish() };

/** What applies to the tools of a set without an entry of their own. */
export const toolDefaultsParamsSchema = z.strictObject(defaults);
export type ToolDefaultsParams = z.infer<typeof toolDefaultsParamsSchema>;

function configParams<N extends BuiltinToolName>(name: N) {
  return z.strictObject({ name: z.literal(name), type: z.literal(name).optional(), ...defaults });
}

const shorthandSchema = z.enum(['all', 'none']);
const filterParamsSchema = z
  .union([shorthandSchema, urlSourceFilterSchema])
  .superRefine((filter, ctx) => {
    if (typeof filter === 'string' || !('tools' in filter)) return;
    const names = filter.tools.map((tool) => tool.name);
    if (new Set(names).size < names.length) addProblems(ctx, [{ path: ['tools'], message: 'names must be unique' }]);
  })
  .nullish();

export const urlSourcesParamsSchema = z
  .strictObject({
    client_tool_results: filterParamsSchema,
    server_tool_results: filterParamsSchema,
    user_input: z.union([shorthandSchema, urlSourceSwitchSchema]).nullish(),
  })
  .superRefine((sources, ctx) => {
    const values = [sources.client_tool_results, sources.server_tool_results, sources.user_input];
    const isNone = (value: (typeof values)[number]) =>
      value === 'none' || (typeof value === 'object' && value?.type === 'none');
    if (values.every(isNone)) addProblems(ctx, [{ path: [], message: 'at least one source must not be "none"' }]);
  });
export type UrlSourcesParams = z.infer<typeof urlSourcesParamsSchema>;

const webFetchParamsSchema = configParams('web_fetch').extend({
  allowed_domains: domainListSchema,
  blocked_domains: domainListSchema,
  max_content_tokens: z.int().min(1, 'must be at least 1').nullish(),
  url_sources: urlSourcesParamsSchema.nullish(),
});
const webSearchParamsSchema = configParams('web_search').extend({
  allowed_domains: domainListSchema,
  blocked_domains: domainListSchema,
  user_location: userLocationSchema.nullish(),
});

export const builtinToolConfigParamsSchema = z.discriminatedUnion('name', [
  configParams('bash'),
  configParams('read'),
  configParams('write'),
  configParams('edit'),
  configParams('glob'),
  configParams('grep'),
  webFetchParamsSchema.superRefine((config, ctx) => addProblems(ctx, domainListProblems(config, false))),
  webSearchParamsSchema.superRefine((config, ctx) => addProblems(ctx, domainListProblems(config, true))),
]);
export type BuiltinToolConfigParams = z.infer<typeof builtinToolConfigParamsSchema>;

export const builtinToolsetParamsSchema = z.strictObject({
  type: z.literal('agent_toolset_20260401'),
  default_config: toolDefaultsParamsSchema.nullish(),
  configs: z
    .array(builtinToolConfigParamsSchema)
    .max(maxConfigs, `must have at most ${maxConfigs} entries`)
    .superRefine((configs, ctx) => addProblems(ctx, duplicateNames(configs)))
    .optional(),
});
export type BuiltinToolsetParams = z.infer<typeof builtinToolsetParamsSchema>;

export const mcpToolsetParamsSchema = z.strictObject({
  type: z.literal('mcp_toolset'),
  mcp_server_name: characters(1, 255),
  default_config: toolDefaultsParamsSchema.nullish(),
  configs: z
    .array(z.strictObject({ name: characters(1, 128), ...defaults }))
    .max(maxMcpConfigs, `must have at most ${maxMcpConfigs} entries`)
    .superRefine((configs, ctx) => addProblems(ctx, duplicateNames(configs)))
    .optional(),
});
export type McpToolsetParams = z.infer<typeof mcpToolsetParamsSchema>;

/** Rules between the entries of one list are in `agent-checks.ts`. */
export const toolParamsSchema = z.discriminatedUnion('type', [
  builtinToolsetParamsSchema,
  mcpToolsetParamsSchema,
  customToolParamsSchema,
]);
export type ToolParams = z.infer<typeof toolParamsSchema>;

/** One problem for each entry whose name an earlier entry has. */
export function duplicateNames(entries: readonly { name: string }[]): Problem[] {
  const seen = new Set<string>();
  return entries.flatMap(({ name }, index) => {
    if (seen.has(name)) return [{ path: [index, 'name'], message: `duplicate name "${name}"` }];
    seen.add(name);
    return [];
  });
}

/**
 * Whether `web_search` is switched on by an entry of its own. The set's default does not count: a server without a search
 * provider then just leaves the tool out.
 */
export function enablesWebSearchExplicitly(tools: readonly ToolParams[] | null | undefined): boolean {
  return (tools ?? []).some(
    (tool) =>
      tool.type === 'agent_toolset_20260401' &&
      (tool.configs ?? []).some((config) => config.name === 'web_search' && config.enabled === true),
  );
}
