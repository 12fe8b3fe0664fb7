/**
 * Content blocks of messages and tool results. They are strict because clients write them too: a field we do not know is
 * refused, not dropped. Of base64 data only the beginning is looked at; a pattern over 30 MB would cost more than it
 * finds. An image that no model takes would have every later prompt of its session refused.
 */
import { z } from 'zod';

export const textBlockSchema = z.strictObject({ type: z.literal('text'), text: z.string() });
export type TextBlock = z.infer<typeof textBlockSchema>;

const urlSourceSchema = z.strictObject({ type: z.literal('url'), url: z.string() });
const fileSourceSchema = z.strictObject({ type: z.literal('file'), file_id: z.string() });
const imageTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const looksLikeBase64 = (data: string): boolean => /^[A-Za-z0-9+/]+={0,2}$/.test(data.slice(0, 64).replace(/\s/g, ''));

const base64ImageSchema = z.strictObject({
  type: z.literal('base64'),
  data: z.string().refine(looksLikeBase64, 'must be base64'),
  media_type: z.string().refine((type) => imageTypes.includes(type), `must be one of ${imageTypes.join(', ')}`),
});
const base64SourceSchema = z.strictObject({ type: z.literal('base64'), data: z.string(), media_type: z.string() });
const plainTextSourceSchema = z.strictObject({
  type: z.literal('text'),
  data: z.string(),
  media_type: z.literal('text/plain'),
});

export const imageBlockSchema = z.strictObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [base64ImageSchema, urlSourceSchema, fileSourceSchema]),
});
export type ImageBlock = z.infer<typeof imageBlockSchema>;

export const documentBlockSchema = z.strictObject({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [base64SourceSchema, plainTextSourceSchema, urlSourceSchema, fileSourceSchema]),
  title: z.string().nullish(),
  context: z.string().nullish(),
});
export type DocumentBlock = z.infer<typeof documentBlockSchema>;

const maxTexts = 10_000;

export const searchResultBlockSchema = z.strictObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(textBlockSchema).max(maxTexts, `must have at most ${maxTexts} blocks`),
  citations: z.strictObject({ enabled: z.boolean() }),
});
export type SearchResultBlock = z.infer<typeof searchResultBlockSchema>;

/** Content that the provider withheld; the server emits it, a client may not send it. */
export const redactedBlockSchema = z.strictObject({ type: z.literal('redacted') });
export type RedactedBlock = z.infer<typeof redactedBlockSchema>;

/** What a client may put into a message. */
export const messageContentSchema = z.discriminatedUnion('type', [
  textBlockSchema,
  imageBlockSchema,
  documentBlockSchema,
]);
export type MessageContent = z.infer<typeof messageContentSchema>;

/** What a system message holds: text alone. */
export const systemContentSchema = textBlockSchema;
export type SystemContent = z.infer<typeof systemContentSchema>;

/** What a message holds when it is read: a user's, or one between threads. */
export const messageBlockSchema = z.discriminatedUnion('type', [...messageContentSchema.options, redactedBlockSchema]);
export type MessageBlock = z.infer<typeof messageBlockSchema>;

/** What the model itself writes. */
export const agentBlockSchema = z.discriminatedUnion('type', [textBlockSchema, redactedBlockSchema]);
export type AgentBlock = z.infer<typeof agentBlockSchema>;

/** What a tool's result holds, whoever ran the tool. */
export const toolResultContentSchema = z.discriminatedUnion('type', [
  textBlockSchema,
  imageBlockSchema,
  documentBlockSchema,
  searchResultBlockSchema,
]);
export type ToolResultContent = z.infer<typeof toolResultContentSchema>;
