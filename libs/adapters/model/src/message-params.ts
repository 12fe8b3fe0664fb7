import type Anthropic from '@anthropic-ai/sdk';
import type { Effort, ModelRequest, PromptMessage } from '@manyhands/ports';
import { markCacheBreakpoints, type Prompt } from './cache-breakpoints.ts';
import { profileOf, type MessagesProfile } from './model-profiles.ts';
import { placeSystemMessages } from './system-placement.ts';

const effortsUpwards: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/**
 * The body of a request. It is a pure function of the request, with its keys always in the same order: a conversation
 * that grew gives a body that begins with the bytes of the one before, up to the cache marks, which the provider leaves
 * out when it compares prefixes. What a request does not use is left out.
 */
export function messageParams(request: ModelRequest): Anthropic.MessageCreateParamsStreaming {
  const profile = profileOf(request.model);
  const effort = nearestEffort(request.effort, profile.efforts);
  const prompt: Prompt = {
    tools: [...request.tools],
    system: request.system ? [{ type: 'text', text: request.system }] : [],
    messages: placeSystemMessages(request.messages.flatMap(withoutEmptyText)),
  };
  if (request.promptCaching) markCacheBreakpoints(prompt);
  const body = {
    model: request.model,
    max_tokens: request.maxOutputTokens,
    stream: true,
    ...thinkingOf(request, profile),
    ...(effort && { output_config: { effort } }),
    ...(prompt.tools.length > 0 && { tools: prompt.tools }),
    ...(prompt.system.length > 0 && { system: prompt.system }),
    messages: prompt.messages,
  };
  // The port's tools and blocks are the API's own shapes, which the port does not spell out.
  return body as unknown as Anthropic.MessageCreateParamsStreaming;
}

/** The beta that a request needs for what its body says, if any. */
export function betaOf(request: ModelRequest): string | null {
  return profileOf(request.model).bindsThinking ? 'thinking-binding-controls-2026-08-01' : null;
}

/**
 * A model that binds its thoughts to the conversation refuses them after anything before them changed: a shortened tool
 * result, another system prompt, another set of tools. It is asked to drop those instead. Such models always think.
 */
function thinkingOf(request: ModelRequest, profile: MessagesProfile) {
  if (profile.bindsThinking) {
    return { thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } } };
  }
  return request.thinking && profile.thinking ? { thinking: { type: 'adaptive' } } : {};
}

/** The highest level that the model has and that is not above the wish; its lowest when all are above. */
function nearestEffort(wished: Effort, offered: readonly Effort[]): Effort | undefined {
  const levels = effortsUpwards.filter((level) => offered.includes(level));
  const limit = effortsUpwards.indexOf(wished);
  return levels.findLast((level) => effortsUpwards.indexOf(level) <= limit) ?? levels[0];
}

/** A model may answer with a text of nothing, which the API then refuses as part of a prompt. */
function withoutEmptyText(message: PromptMessage): PromptMessage[] {
  const isEmpty = (block: PromptMessage['content'][number]) =>
    block.type === 'text' && String(block['text']).trim() === '';
  if (!message.content.some(isEmpty)) return [message];
  const content = message.content.filter((block) => !isEmpty(block));
  return content.length > 0 ? [{ ...message, content }] : [];
}
