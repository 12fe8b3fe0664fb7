/** What a session has at hand besides its sandbox: files, repositories, memory stores. Mounting them is a later phase. */
import { z } from 'zod';

import { characters } from './characters.ts';

const maxFiles = 500;
const maxMemoryStores = 8;
/** Ours; leaves room for repositories, which have no limit of their own. */
const maxResources = 600;

const checkoutSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('branch'), name: z.string() }),
  z.strictObject({ type: z.literal('commit'), sha: z.string() }),
]);
const accessSchema = z.enum(['read_write', 'read_only']);

export const sessionResourceSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('file'),
    id: z.string(),
    file_id: z.string(),
    mount_path: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
  }),
  z.object({
    type: z.literal('github_repository'),
    id: z.string(),
    url: z.string(),
    mount_path: z.string(),
    checkout: checkoutSchema.nullish(),
    created_at: z.string(),
    updated_at: z.string(),
  }),
  z.object({
    type: z.literal('memory_store'),
    memory_store_id: z.string(),
    access: accessSchema.nullish(),
    name: z.string().nullish(),
    description: z.string().optional(),
    instructions: z.string().nullish(),
    mount_path: z.string().nullish(),
  }),
]);
export type SessionResource = z.infer<typeof sessionResourceSchema>;

export const sessionResourceParamsSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('file'), file_id: z.string(), mount_path: z.string().nullish() }),
  z.strictObject({
    type: z.literal('github_repository'),
    url: z
      .string()
      .refine(
        (url) => /^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/.test(url) && !url.endsWith('.git'),
        'must have the form https://github.com/<owner>/<repo>',
      ),
    authorization_token: z.string().optional(),
    checkout: checkoutSchema.nullish(),
    mount_path: z.string().nullish(),
  }),
  z.strictObject({
    type: z.literal('memory_store'),
    memory_store_id: z.string(),
    access: accessSchema.nullish(),
    instructions: characters(0, 4096).nullish(),
  }),
]);
export type SessionResourceParams = z.infer<typeof sessionResourceParamsSchema>;

export const sessionResourceListParamsSchema = z
  .array(sessionResourceParamsSchema)
  .max(maxResources, `must have at most ${maxResources} resources`)
  .refine((list) => count(list, 'file') <= maxFiles, `must have at most ${maxFiles} files`)
  .refine(
    (list) => count(list, 'memory_store') <= maxMemoryStores,
    `must have at most ${maxMemoryStores} memory stores`,
  );

function count(list: readonly SessionResourceParams[], type: SessionResourceParams['type']): number {
  return list.filter((resource) => resource.type === type).length;
}
