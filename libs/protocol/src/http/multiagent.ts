/**
 * How an agent works together with others. These shapes are read and written; running them belongs to a later phase, and
 * `not-yet.ts` refuses them until then.
 */
import { z } from 'zod';

import { characters } from './characters.ts';

const maxMembers = 20;

export const advisorSchema = z.strictObject({ type: z.literal('advisor'), model: z.string() });
export type Advisor = z.infer<typeof advisorSchema>;

const switchSchema = z.strictObject({ type: z.enum(['enabled', 'disabled']) });
const advisorPartSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('enabled'), model: z.string() }),
  z.strictObject({ type: z.literal('disabled') }),
]);

/** The shape of both response forms over what stands for a member: a pinned reference, or the full agent. */
export function multiagentOf<M extends z.core.$ZodTypeDiscriminable>(member: M) {
  const partSchema = z.discriminatedUnion('type', [
    z.object({ type: z.literal('enabled'), inline_agents: switchSchema, predefined_agents: z.array(member) }),
    z.object({ type: z.literal('disabled') }),
  ]);
  return z.discriminatedUnion('type', [
    z.object({
      type: z.literal('coordinator'),
      agents: z.array(z.discriminatedUnion('type', [member, advisorSchema])),
    }),
    z.object({
      type: z.literal('multiagent_20261001'),
      advisor: advisorPartSchema,
      subagents: partSchema,
      workflows: partSchema,
    }),
  ]);
}

export const agentReferenceSchema = z.object({ type: z.literal('agent'), id: z.string(), version: z.int() });
export type AgentReference = z.infer<typeof agentReferenceSchema>;

/** Of an agent: members are references, pinned to a version. */
export const multiagentSchema = multiagentOf(agentReferenceSchema);
export type Multiagent = z.infer<typeof multiagentSchema>;

const memberParamsSchema = z.union([
  characters(1, 256),
  z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('agent'),
      id: z.string(),
      version: z.int().min(1, 'must be at least 1').optional(),
    }),
    z.strictObject({ type: z.literal('self') }),
  ]),
]);
const rosterEntryParamsSchema = z.union([
  memberParamsSchema.options[0],
  z.discriminatedUnion('type', [...memberParamsSchema.options[1].options, advisorSchema]),
]);
const partParamsSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('enabled'),
    inline_agents: switchSchema.nullish(),
    predefined_agents: z.array(memberParamsSchema).max(maxMembers, `must have at most ${maxMembers} agents`).nullish(),
  }),
  z.strictObject({ type: z.literal('disabled') }),
]);

export const multiagentParamsSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('coordinator'),
    agents: z
      .array(rosterEntryParamsSchema)
      .min(1, `must have 1 to ${maxMembers} agents`)
      .max(maxMembers, `must have 1 to ${maxMembers} agents`),
  }),
  z.strictObject({
    type: z.literal('multiagent_20261001'),
    advisor: advisorPartSchema.nullish(),
    subagents: partParamsSchema.nullish(),
    workflows: partParamsSchema.nullish(),
  }),
]);
export type MultiagentParams = z.infer<typeof multiagentParamsSchema>;
