/** Sessions: the object, and the bodies that create and update one. */
import { z } from 'zod';

import { stopReasonSchema } from '../session-event/stop.ts';
import { budgetSchema, usageSchema } from '../session-event/usage.ts';
import {
  mcpServerListParamsSchema,
  skillListParamsSchema,
  systemPromptSchema,
  toolListParamsSchema,
} from './agents.ts';
import { characters } from './characters.ts';
import { initialEventsSchema } from './events.ts';
import { metadataPatchSchema, metadataSchema } from './metadata.ts';
import { modelParamsSchema } from './model-config.ts';
import { bidirectionalPageOf } from './paging.ts';
import { addProblems } from './problem.ts';
import { sessionResourceListParamsSchema, sessionResourceSchema } from './resources.ts';
import { sessionAgentSchema } from './session-agent.ts';

export { sessionAgentSchema };
export type { SessionAgent } from './session-agent.ts';

export const sessionStatusSchema = z.enum(['idle', 'running', 'rescheduling', 'terminated']);
export type SessionStatus = z.infer<typeof sessionStatusSchema>;

/** `result` is `pending`, `running` or `evaluating` before the end, then the grader's verdict. */
export const outcomeEvaluationSchema = z.object({
  type: z.literal('outcome_evaluation'),
  outcome_id: z.string(),
  description: z.string(),
  iteration: z.int(),
  result: z.string(),
  explanation: z.string().nullable(),
  completed_at: z.string().nullable(),
});
export type OutcomeEvaluation = z.infer<typeof outcomeEvaluationSchema>;

export const sessionStatsSchema = z.object({
  active_seconds: z.number().optional(),
  duration_seconds: z.number().optional(),
});
export type SessionStats = z.infer<typeof sessionStatsSchema>;

/** `stop_reason` is our addition: that of the last idle, null before the first. */
export const sessionSchema = z.object({
  type: z.literal('session'),
  id: z.string(),
  status: sessionStatusSchema,
  stop_reason: stopReasonSchema.nullable(),
  title: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  environment_id: z.string(),
  agent: sessionAgentSchema,
  resources: z.array(sessionResourceSchema),
  vault_ids: z.array(z.string()),
  budget: budgetSchema.nullable(),
  usage: usageSchema,
  stats: sessionStatsSchema,
  outcome_evaluations: z.array(outcomeEvaluationSchema),
  deployment_id: z.string().nullish(),
  created_at: z.string(),
  updated_at: z.string(),
  archived_at: z.string().nullable(),
});
export type Session = z.infer<typeof sessionSchema>;

export const sessionPageSchema = bidirectionalPageOf(sessionSchema);
export type SessionPage = z.infer<typeof sessionPageSchema>;

export const deletedSessionSchema = z.object({ type: z.literal('session_deleted'), id: z.string() });
export type DeletedSession = z.infer<typeof deletedSessionSchema>;

/** Whole cents above zero, as a string; 15 digits keep it exact as a number too. */
export const budgetParamsSchema = z.strictObject({
  type: z.literal('limit'),
  max_list_cost: z.strictObject({
    amount: z
      .string()
      .regex(/^[1-9][0-9]{0,14}$/, 'must be a string of whole cents above 0, without leading zeros or decimals'),
    currency: z.literal('USD'),
  }),
});
export type BudgetParams = z.infer<typeof budgetParamsSchema>;

const agentIdSchema = characters(1, 256);
const versionSchema = z.int().min(1, 'must be at least 1').optional();

/** Absent: inherited. null or an empty list: cleared. Anything else replaces in full. */
export const agentOverridesSchema = z.strictObject({
  type: z.literal('agent_with_overrides'),
  id: agentIdSchema,
  version: versionSchema,
  model: modelParamsSchema
    .nullable()
    .transform((model, ctx) => {
      if (model !== null) return model;
      const message = "a model is required; omit it to inherit the agent's";
      addProblems(ctx, [{ path: [], message, code: 'agent_model_required' }]);
      return z.NEVER;
    })
    .optional(),
  system: systemPromptSchema.nullish(),
  tools: toolListParamsSchema.nullish(),
  mcp_servers: mcpServerListParamsSchema.nullish(),
  skills: skillListParamsSchema.nullish(),
});
export type AgentOverrides = z.infer<typeof agentOverridesSchema>;

/** An id alone, or a reference without version, means the latest version. */
export const sessionAgentParamsSchema = z.union([
  agentIdSchema,
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('agent'), id: agentIdSchema, version: versionSchema }),
    agentOverridesSchema,
  ]),
]);
export type SessionAgentParams = z.infer<typeof sessionAgentParamsSchema>;

/** Ours; the API contract gives a limit for deployments only. */
const maxVaults = 50;
/** Ours; none is published. */
const titleSchema = characters(0, 1024);

/** Body of `POST /v1/sessions`. */
export const createSessionBodySchema = z.strictObject({
  agent: sessionAgentParamsSchema,
  environment_id: z.string().min(1, 'must not be empty'),
  title: titleSchema.nullish(),
  metadata: metadataSchema.optional(),
  resources: sessionResourceListParamsSchema.optional(),
  vault_ids: z.array(z.string()).max(maxVaults, `must have at most ${maxVaults} vaults`).optional(),
  budget: budgetParamsSchema.optional(),
  initial_events: initialEventsSchema.optional(),
});
export type CreateSessionBody = z.infer<typeof createSessionBodySchema>;

/** The two parts of a session's agent that may change while it lives; both replace in full. */
export const sessionAgentUpdateSchema = z.strictObject({
  tools: toolListParamsSchema.nullish(),
  mcp_servers: mcpServerListParamsSchema.nullish(),
});
export type SessionAgentUpdate = z.infer<typeof sessionAgentUpdateSchema>;

/** Body of `POST /v1/sessions/{session_id}`. A null budget removes it. */
export const updateSessionBodySchema = z.strictObject({
  title: titleSchema.nullish(),
  metadata: metadataPatchSchema.nullish(),
  budget: budgetParamsSchema.nullish(),
  agent: sessionAgentUpdateSchema.optional(),
  vault_ids: z
    .array(z.string())
    .transform((_, ctx): never => {
      const message = 'changing the vaults of a session is not yet supported';
      addProblems(ctx, [{ path: [], message, code: 'vault_ids_not_updatable' }]);
      return z.NEVER;
    })
    .optional(),
});
export type UpdateSessionBody = z.infer<typeof updateSessionBodySchema>;
