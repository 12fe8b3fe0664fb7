/** Agents: the object, and the bodies that create and update one. Limits are those of the API contract. */
import { z } from 'zod';

import { agentProblems, maxTools } from './agent-checks.ts';
import { characters } from './characters.ts';
import { metadataPatchSchema, metadataSchema } from './metadata.ts';
import { modelParamsSchema } from './model-config.ts';
import { multiagentParamsSchema, multiagentSchema } from './multiagent.ts';
import { pageOf } from './paging.ts';
import { addProblems } from './problem.ts';
import { agentDefinition, executionIdentitySchema } from './session-agent.ts';
import { toolParamsSchema } from './tool-params.ts';

const maxServers = 20;
const maxSkills = 500;

/** What a version of an agent says: everything but its identity and times. */
export const agentConfigSchema = z.object({
  ...agentDefinition,
  multiagent: multiagentSchema.nullable(),
  metadata: z.record(z.string(), z.string()),
});
export type AgentConfig = z.infer<typeof agentConfigSchema>;

export const agentSchema = agentConfigSchema.extend({
  type: z.literal('agent'),
  id: z.string(),
  version: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
  archived_at: z.string().nullable(),
});
export type Agent = z.infer<typeof agentSchema>;

export const mcpServerParamsSchema = z.strictObject({
  type: z.literal('url'),
  name: characters(1, 255),
  url: characters(1, 2048).refine((url) => /^https?:\/\/[^\s/]+/i.test(url), 'must be an http or https URL'),
});
export type McpServerParams = z.infer<typeof mcpServerParamsSchema>;

/** An absent or null version, and `latest`, mean the latest one. */
export const skillParamsSchema = z.strictObject({
  type: z.enum(['anthropic', 'custom']),
  skill_id: characters(1, 256),
  version: z.string().nullish(),
});
export type SkillParams = z.infer<typeof skillParamsSchema>;

export const toolListParamsSchema = z.array(toolParamsSchema).max(maxTools, `must have at most ${maxTools} tools`);
export const mcpServerListParamsSchema = z
  .array(mcpServerParamsSchema)
  .max(maxServers, `must have at most ${maxServers} servers`);
export const skillListParamsSchema = z.array(skillParamsSchema).max(maxSkills, `must have at most ${maxSkills} skills`);

const agentNameSchema = characters(1, 256);
export const systemPromptSchema = characters(0, 100_000);
const descriptionSchema = characters(0, 2048);

/** Body of `POST /v1/agents`. */
export const createAgentBodySchema = z
  .strictObject({
    name: agentNameSchema,
    model: modelParamsSchema,
    description: descriptionSchema.nullish(),
    system: systemPromptSchema.nullish(),
    tools: toolListParamsSchema.optional(),
    mcp_servers: mcpServerListParamsSchema.optional(),
    skills: skillListParamsSchema.optional(),
    multiagent: multiagentParamsSchema.nullish(),
    execution_identity: executionIdentitySchema.nullish(),
    metadata: metadataSchema.optional(),
  })
  .superRefine(({ tools = [], mcp_servers = [], skills = [] }, ctx) => {
    addProblems(ctx, agentProblems({ tools, mcp_servers, skills }));
  });
export type CreateAgentBody = z.infer<typeof createAgentBodySchema>;

/** Body of `POST /v1/agents/{agent_id}`. The rules between fields are checked on the result (`agent-update.ts`). */
export const updateAgentBodySchema = z.strictObject({
  version: z.int().min(1, 'must be at least 1').optional(),
  name: agentNameSchema.optional(),
  model: modelParamsSchema.optional(),
  description: descriptionSchema.nullish(),
  system: systemPromptSchema.nullish(),
  tools: toolListParamsSchema.nullish(),
  mcp_servers: mcpServerListParamsSchema.nullish(),
  skills: skillListParamsSchema.nullish(),
  multiagent: multiagentParamsSchema.nullish(),
  execution_identity: executionIdentitySchema.nullish(),
  metadata: metadataPatchSchema.nullish(),
});
export type UpdateAgentBody = z.infer<typeof updateAgentBodySchema>;

export const agentPageSchema = pageOf(agentSchema);
export type AgentPage = z.infer<typeof agentPageSchema>;
