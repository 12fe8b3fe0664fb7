/** The model of an agent: a bare id or an object in requests, always an object in responses. */
import { z } from 'zod';

import { characters } from './characters.ts';

export const effortLevels = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type EffortLevel = (typeof effortLevels)[number];

const effortLevelSchema = z.enum(effortLevels);
export const effortSchema = z.strictObject({ type: effortLevelSchema });
export type Effort = z.infer<typeof effortSchema>;

/** As responses show it; `effort` and `speed` are always resolved, `inference_geo` is there when it was set. */
export const modelConfigSchema = z.object({
  id: z.string(),
  effort: effortSchema.optional(),
  speed: z.enum(['standard', 'fast']).optional(),
  inference_geo: z.string().optional(),
});
export type ModelConfig = z.infer<typeof modelConfigSchema>;

const modelIdSchema = characters(1, 256);

export const modelParamsSchema = z.union([
  modelIdSchema,
  z.strictObject({
    id: modelIdSchema,
    effort: z.union([effortLevelSchema, effortSchema]).nullish(),
    speed: z.enum(['standard', 'fast']).nullish(),
    inference_geo: z
      .string()
      .regex(/^(us|global)$/, "must be 'us' or 'global'")
      .nullish(),
  }),
]);
export type ModelParams = z.infer<typeof modelParamsSchema>;
