/** What the agent says and does. */
import { z } from 'zod';

import { agentBlockSchema, messageBlockSchema, toolResultContentSchema } from './content-blocks.ts';
import { emittedEvent } from './event-envelope.ts';

export const evaluatedPermissionSchema = z.enum(['allow', 'ask', 'deny']);
export type EvaluatedPermission = z.infer<typeof evaluatedPermissionSchema>;

/**
 * How a call's permission was found. We write the reason codes `indeterminate` (ask) and `indeterminate` or `high_risk`
 * (deny); clients are told to expect others.
 */
export const toolEvaluationSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('always_allow') }),
  z.object({ type: z.literal('always_ask') }),
  z.object({
    type: z.literal('auto'),
    evaluated_permission: z.discriminatedUnion('type', [
      z.object({ type: z.literal('allow') }),
      z.object({ type: z.literal('ask'), reason_code: z.string() }),
      z.object({ type: z.literal('deny'), reason_code: z.string() }),
    ]),
  }),
]);
export type ToolEvaluation = z.infer<typeof toolEvaluationSchema>;

const toolInputSchema = z.record(z.string(), z.unknown());

/** Its id is allocated before the model streams, since previews carry it. */
export const agentMessageEventSchema = z.object({
  type: z.literal('agent.message'),
  ...emittedEvent,
  content: z.array(agentBlockSchema),
});
export type AgentMessageEvent = z.infer<typeof agentMessageEventSchema>;

/** Says that the model thought; the text of the thinking is never shown. */
export const agentThinkingEventSchema = z.object({ type: z.literal('agent.thinking'), ...emittedEvent });
export type AgentThinkingEvent = z.infer<typeof agentThinkingEventSchema>;

/** `evaluation` is absent when the named tool is not enabled; `evaluated_permission` is then `deny`. */
export const agentToolUseEventSchema = z.object({
  type: z.literal('agent.tool_use'),
  ...emittedEvent,
  name: z.string(),
  input: toolInputSchema,
  evaluated_permission: evaluatedPermissionSchema.optional(),
  evaluation: toolEvaluationSchema.optional(),
  session_thread_id: z.string().nullish(),
});
export type AgentToolUseEvent = z.infer<typeof agentToolUseEventSchema>;

export const agentToolResultEventSchema = z.object({
  type: z.literal('agent.tool_result'),
  ...emittedEvent,
  tool_use_id: z.string(),
  content: z.array(toolResultContentSchema).optional(),
  is_error: z.boolean().nullish(),
});
export type AgentToolResultEvent = z.infer<typeof agentToolResultEventSchema>;

/** `name` is the server's own name of the tool, without the server's. */
export const agentMcpToolUseEventSchema = z.object({
  type: z.literal('agent.mcp_tool_use'),
  ...emittedEvent,
  mcp_server_name: z.string(),
  name: z.string(),
  input: toolInputSchema,
  evaluated_permission: evaluatedPermissionSchema.optional(),
  evaluation: toolEvaluationSchema.optional(),
  session_thread_id: z.string().nullish(),
});
export type AgentMcpToolUseEvent = z.infer<typeof agentMcpToolUseEventSchema>;

export const agentMcpToolResultEventSchema = z.object({
  type: z.literal('agent.mcp_tool_result'),
  ...emittedEvent,
  mcp_tool_use_id: z.string(),
  content: z.array(toolResultContentSchema).optional(),
  is_error: z.boolean().nullish(),
});
export type AgentMcpToolResultEvent = z.infer<typeof agentMcpToolResultEventSchema>;

export const agentCustomToolUseEventSchema = z.object({
  type: z.literal('agent.custom_tool_use'),
  ...emittedEvent,
  name: z.string(),
  input: toolInputSchema,
  session_thread_id: z.string().nullish(),
});
export type AgentCustomToolUseEvent = z.infer<typeof agentCustomToolUseEventSchema>;

export const agentThreadMessageSentEventSchema = z.object({
  type: z.literal('agent.thread_message_sent'),
  ...emittedEvent,
  to_session_thread_id: z.string(),
  to_agent_name: z.string().nullish(),
  content: z.array(messageBlockSchema),
});
export type AgentThreadMessageSentEvent = z.infer<typeof agentThreadMessageSentEventSchema>;

export const agentThreadMessageReceivedEventSchema = z.object({
  type: z.literal('agent.thread_message_received'),
  ...emittedEvent,
  from_session_thread_id: z.string(),
  from_agent_name: z.string().nullish(),
  content: z.array(messageBlockSchema),
});
export type AgentThreadMessageReceivedEvent = z.infer<typeof agentThreadMessageReceivedEventSchema>;

export const agentThreadContextCompactedEventSchema = z.object({
  type: z.literal('agent.thread_context_compacted'),
  ...emittedEvent,
});
export type AgentThreadContextCompactedEvent = z.infer<typeof agentThreadContextCompactedEventSchema>;
