/** The events a client sends: request forms of the seven types, and the rules for a list of them. */
import { z } from 'zod';

import { sentEventSchema, sessionEventSchema } from '../session-event.ts';
import {
  documentBlockSchema,
  imageBlockSchema,
  redactedBlockSchema,
  textBlockSchema,
  toolResultContentSchema,
} from '../session-event/content-blocks.ts';
import { outcomeRubricSchema } from '../session-event/user-events.ts';
import { hasLength } from './characters.ts';
import { pageOf } from './paging.ts';
import { addProblems, type Problem } from './problem.ts';

/** Ours: the contract names no limit, and a hostile list should not be read at length. */
const maxEvents = 1000;
const maxBlocks = 10_000;
const maxInitialEvents = 50;
const maxFileDocuments = 100;
const maxSystemBlocks = 1000;
const maxRubricCharacters = 262_144;
const maxOutcomeIterations = 20;

const blocksMessage = `must have at most ${maxBlocks} blocks`;

/** Models refuse empty text, so a message with one could never be answered. */
const filledTextSchema = textBlockSchema.extend({ text: z.string().min(1, 'must not be empty') });

/** In the input type because SDKs can express it; never in the output. */
const refusedRedactedBlockSchema = redactedBlockSchema.transform((_, ctx): never => {
  addProblems(ctx, [{ path: [], message: 'redacted blocks cannot be sent' }]);
  return z.NEVER;
});

export const userMessageParamsSchema = z.strictObject({
  type: z.literal('user.message'),
  content: z
    .array(
      z.discriminatedUnion('type', [
        filledTextSchema,
        imageBlockSchema,
        documentBlockSchema,
        refusedRedactedBlockSchema,
      ]),
    )
    .min(1, 'must have at least 1 block')
    .max(maxBlocks, blocksMessage),
});
export type UserMessageParams = z.infer<typeof userMessageParamsSchema>;

export const userInterruptParamsSchema = z.strictObject({
  type: z.literal('user.interrupt'),
  session_thread_id: z.string().nullish(),
});
export type UserInterruptParams = z.infer<typeof userInterruptParamsSchema>;

export const userToolConfirmationParamsSchema = z
  .strictObject({
    type: z.literal('user.tool_confirmation'),
    tool_use_id: z.string(),
    result: z.enum(['allow', 'deny']),
    deny_message: z.string().nullish(),
  })
  .superRefine(({ result, deny_message }, ctx) => {
    if (result === 'deny' || deny_message == null) return;
    addProblems(ctx, [{ path: ['deny_message'], message: "only allowed when result is 'deny'" }]);
  });
export type UserToolConfirmationParams = z.infer<typeof userToolConfirmationParamsSchema>;

const resultParams = {
  content: z.array(toolResultContentSchema).max(maxBlocks, blocksMessage).optional(),
  is_error: z.boolean().nullish(),
};

export const userCustomToolResultParamsSchema = z.strictObject({
  type: z.literal('user.custom_tool_result'),
  custom_tool_use_id: z.string(),
  ...resultParams,
});
export type UserCustomToolResultParams = z.infer<typeof userCustomToolResultParamsSchema>;

export const userToolResultParamsSchema = z.strictObject({
  type: z.literal('user.tool_result'),
  tool_use_id: z.string(),
  ...resultParams,
});
export type UserToolResultParams = z.infer<typeof userToolResultParamsSchema>;

const rubricParamsSchema = outcomeRubricSchema.superRefine((rubric, ctx) => {
  if (rubric.type !== 'text' || hasLength(rubric.content, 1, maxRubricCharacters)) return;
  addProblems(ctx, [{ path: ['content'], message: `must have 1 to ${maxRubricCharacters} characters` }]);
});
const iterationsMessage = `must be 1 to ${maxOutcomeIterations}`;

export const userDefineOutcomeParamsSchema = z.strictObject({
  type: z.literal('user.define_outcome'),
  description: z.string().min(1, 'must not be empty'),
  rubric: rubricParamsSchema,
  max_iterations: z.int().min(1, iterationsMessage).max(maxOutcomeIterations, iterationsMessage).nullish(),
});
export type UserDefineOutcomeParams = z.infer<typeof userDefineOutcomeParamsSchema>;

const systemBlocksMessage = `must have 1 to ${maxSystemBlocks} blocks`;

export const systemMessageParamsSchema = z.strictObject({
  type: z.literal('system.message'),
  content: z.array(filledTextSchema).min(1, systemBlocksMessage).max(maxSystemBlocks, systemBlocksMessage),
});
export type SystemMessageParams = z.infer<typeof systemMessageParamsSchema>;

export const eventParamsSchema = z.discriminatedUnion('type', [
  userMessageParamsSchema,
  userInterruptParamsSchema,
  userToolConfirmationParamsSchema,
  userCustomToolResultParamsSchema,
  userToolResultParamsSchema,
  userDefineOutcomeParamsSchema,
  systemMessageParamsSchema,
]);
export type EventParams = z.infer<typeof eventParamsSchema>;

const eventsMessage = `must have 1 to ${maxEvents} events`;

/** Body of `POST /v1/sessions/{session_id}/events`. One bad event refuses the whole request. */
export const sendEventsBodySchema = z.strictObject({
  events: z
    .array(eventParamsSchema)
    .min(1, eventsMessage)
    .max(maxEvents, eventsMessage)
    .superRefine((events, ctx) =>
      addProblems(ctx, [...fileDocumentProblems(events), ...systemMessageProblems(events)]),
    ),
});
export type SendEventsBody = z.infer<typeof sendEventsBodySchema>;

/** What a session may be created with: at most 50 messages and outcomes, of which one outcome. */
export const initialEventsSchema = z
  .array(z.discriminatedUnion('type', [userMessageParamsSchema, userDefineOutcomeParamsSchema]))
  .max(maxInitialEvents, `must have at most ${maxInitialEvents} events`)
  .superRefine((events, ctx) => addProblems(ctx, [...fileDocumentProblems(events), ...outcomeProblems(events)]));
export type InitialEvent = z.infer<typeof initialEventsSchema>[number];

/** Answer to sent events: as stored, with ids, in order. */
export const sentEventsSchema = z.object({ data: z.array(sentEventSchema) });
export type SentEvents = z.infer<typeof sentEventsSchema>;

export const eventPageSchema = pageOf(sessionEventSchema);
export type EventPage = z.infer<typeof eventPageSchema>;

function fileDocumentProblems(events: readonly EventParams[]): Problem[] {
  const blocks = events.flatMap((event) => ('content' in event ? (event.content ?? []) : []));
  const count = blocks.filter((block) => block.type === 'document' && block.source.type === 'file').length;
  if (count <= maxFileDocuments) return [];
  return [{ path: [], message: `must have at most ${maxFileDocuments} documents from files, got ${count}` }];
}

/**
 * At most one, and last. Whether it may stand alone depends on the session: the API contract's sources disagree, and on
 * an idle session it may.
 */
function systemMessageProblems(events: readonly EventParams[]): Problem[] {
  const positions = events.flatMap((event, index) => (event.type === 'system.message' ? [index] : []));
  const [first, second] = positions;
  if (second !== undefined) return [{ path: [second], message: 'at most one system.message is allowed' }];
  if (first === undefined || first === events.length - 1) return [];
  return [{ path: [first], message: 'system.message must be the last event' }];
}

function outcomeProblems(events: readonly EventParams[]): Problem[] {
  const positions = events.flatMap((event, index) => (event.type === 'user.define_outcome' ? [index] : []));
  if (positions.length < 2) return [];
  return [{ path: [positions[1] as number], message: 'at most one user.define_outcome is allowed' }];
}
