/** Tools of an agent as responses show them: toolsets with every tool resolved. Their request forms: `tool-params.ts`. */
import { z } from 'zod';

/** In the order in which a resolved toolset lists them. */
export const builtinToolNames = ['bash', 'read', 'write', 'edit', 'glob', 'grep', 'web_fetch', 'web_search'] as const;
export type BuiltinToolName = (typeof builtinToolNames)[number];

export const permissionPolicySchema = z.strictObject({ type: z.enum(['always_allow', 'always_ask', 'auto']) });
export type PermissionPolicy = z.infer<typeof permissionPolicySchema>;

/** What applies to the tools of a set that have no entry of their own. */
export const toolDefaultsSchema = z.object({ enabled: z.boolean(), permission_policy: permissionPolicySchema });
export type ToolDefaults = z.infer<typeof toolDefaultsSchema>;

const maxReferences = 128;
const referencesMessage = `must have 1 to ${maxReferences} tools; use "none" for no tool`;
const maxRequired = 10_000;

const toolReferenceSchema = z.strictObject({ type: z.literal('tool_reference'), name: z.string() });

const toolReferencesSchema = z
  .array(toolReferenceSchema)
  .min(1, referencesMessage)
  .max(maxReferences, referencesMessage);

/** Which tools' results may contribute URLs that `web_fetch` fetches. */
export const urlSourceFilterSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('all') }),
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({ type: z.literal('only'), tools: toolReferencesSchema }),
  z.strictObject({ type: z.literal('except'), tools: toolReferencesSchema }),
]);
export type UrlSourceFilter = z.infer<typeof urlSourceFilterSchema>;

export const urlSourceSwitchSchema = z.strictObject({ type: z.enum(['all', 'none']) });
export type UrlSourceSwitch = z.infer<typeof urlSourceSwitchSchema>;

/** A null source was not set and allows everything. */
export const urlSourcesSchema = z.object({
  client_tool_results: urlSourceFilterSchema.nullable(),
  server_tool_results: urlSourceFilterSchema.nullable(),
  user_input: urlSourceSwitchSchema.nullable(),
});
export type UrlSources = z.infer<typeof urlSourcesSchema>;

export const userLocationSchema = z.strictObject({
  type: z.literal('approximate'),
  city: z.string().nullish(),
  region: z.string().nullish(),
  country: z.string().nullish(),
  timezone: z.string().nullish(),
});
export type UserLocation = z.infer<typeof userLocationSchema>;

function toolConfig<N extends BuiltinToolName>(name: N) {
  return toolDefaultsSchema.extend({ name: z.literal(name), type: z.literal(name) });
}

const domainLists = {
  allowed_domains: z.array(z.string()).optional(),
  blocked_domains: z.array(z.string()).optional(),
};

export const builtinToolConfigSchema = z.discriminatedUnion('name', [
  toolConfig('bash'),
  toolConfig('read'),
  toolConfig('write'),
  toolConfig('edit'),
  toolConfig('glob'),
  toolConfig('grep'),
  toolConfig('web_fetch').extend({
    ...domainLists,
    max_content_tokens: z.int().nullish(),
    url_sources: urlSourcesSchema.nullable(),
  }),
  toolConfig('web_search').extend({ ...domainLists, user_location: userLocationSchema.nullish() }),
]);
export type BuiltinToolConfig = z.infer<typeof builtinToolConfigSchema>;

export const builtinToolsetSchema = z.object({
  type: z.literal('agent_toolset_20260401'),
  default_config: toolDefaultsSchema,
  configs: z.array(builtinToolConfigSchema),
});
export type BuiltinToolset = z.infer<typeof builtinToolsetSchema>;

export const mcpToolsetSchema = z.object({
  type: z.literal('mcp_toolset'),
  mcp_server_name: z.string(),
  default_config: toolDefaultsSchema,
  configs: z.array(toolDefaultsSchema.extend({ name: z.string() })),
});
export type McpToolset = z.infer<typeof mcpToolsetSchema>;

export const toolInputSchemaSchema = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), z.unknown()).nullish(),
  required: z.array(z.string()).max(maxRequired, `must have at most ${maxRequired} names`).nullish(),
});
export type ToolInputSchema = z.infer<typeof toolInputSchemaSchema>;

/** A tool that the client runs. */
export const customToolSchema = z.object({
  type: z.literal('custom'),
  name: z.string(),
  description: z.string(),
  input_schema: toolInputSchemaSchema,
});
export type CustomTool = z.infer<typeof customToolSchema>;

export const toolSchema = z.discriminatedUnion('type', [builtinToolsetSchema, mcpToolsetSchema, customToolSchema]);
export type Tool = z.infer<typeof toolSchema>;
