/** The snapshot of an agent that a session or thread runs on. */
import { z } from 'zod';

import { modelConfigSchema } from './model-config.ts';
import { multiagentOf } from './multiagent.ts';
import { toolSchema } from './tools.ts';

export const mcpServerSchema = z.object({ type: z.literal('url'), name: z.string(), url: z.string() });
export type McpServer = z.infer<typeof mcpServerSchema>;

export const skillSchema = z.object({
  type: z.enum(['anthropic', 'custom']),
  skill_id: z.string(),
  version: z.string(),
});
export type Skill = z.infer<typeof skillSchema>;

export const executionIdentitySchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('service_account') }),
  z.strictObject({ type: z.literal('aws_role'), role_arn: z.string() }),
]);
export type ExecutionIdentity = z.infer<typeof executionIdentitySchema>;

/** What a model needs to know about whom it plays. */
export const agentDefinition = {
  name: z.string(),
  description: z.string().nullable(),
  model: modelConfigSchema,
  system: z.string().nullable(),
  tools: z.array(toolSchema),
  mcp_servers: z.array(mcpServerSchema),
  skills: z.array(skillSchema),
  execution_identity: executionIdentitySchema,
};

/** An agent on a thread: a version of it, without its own roster. */
export const threadAgentSchema = z.object({
  type: z.literal('agent'),
  id: z.string(),
  version: z.int(),
  ...agentDefinition,
});
export type ThreadAgent = z.infer<typeof threadAgentSchema>;

/** An agent that a workflow's plan wrote itself: no id, no version. */
export const inlineAgentSchema = z.object({ type: z.literal('inline'), ...agentDefinition });
export type InlineAgent = z.infer<typeof inlineAgentSchema>;

/** The agent of a session; in `multiagent` every member is expanded to the full agent. */
export const sessionAgentSchema = threadAgentSchema.extend({ multiagent: multiagentOf(threadAgentSchema).nullable() });
export type SessionAgent = z.infer<typeof sessionAgentSchema>;
