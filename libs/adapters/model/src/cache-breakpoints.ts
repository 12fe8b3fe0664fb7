import type { ModelTool, PromptMessage } from '@manyhands/ports';
import type { ModelBlock } from '@manyhands/protocol';

interface CacheMark {
  cache_control?: { type: 'ephemeral' };
}

/** A prompt on its way to the API; its lists are our own, what is in them is not. */
export interface Prompt {
  tools: (ModelTool & CacheMark)[];
  system: (ModelBlock & CacheMark)[];
  messages: PromptMessage[];
}

/** Blocks that may carry a mark; thinking may not. */
const cacheable = new Set(['text', 'image', 'document', 'search_result', 'tool_use', 'tool_result']);

/** For five minutes, the API's default. */
const mark = { cache_control: { type: 'ephemeral' } } as const;

/**
 * Marks the places up to which the provider caches the prompt: the end of the tools, of the system prompt, of the
 * messages, and of the messages as the request before this one had them. The API takes four marks, and looks for an
 * earlier entry only some 20 blocks before each; the fourth makes sure that it finds the last one, however many results
 * a step brought. What is marked is copied: the caller's blocks are never changed.
 */
export function markCacheBreakpoints(prompt: Prompt): void {
  markLast(prompt.tools);
  markLast(prompt.system);
  const last = prompt.messages.length - 1;
  const lastAnswer = prompt.messages.findLastIndex((message) => message.role === 'assistant');
  for (const index of new Set([lastAnswer - 1, last])) {
    const message = prompt.messages[index];
    if (message) prompt.messages[index] = marked(message);
  }
}

function markLast(places: (object & CacheMark)[]): void {
  const last = places.at(-1);
  if (last) places[places.length - 1] = { ...last, ...mark };
}

function marked(message: PromptMessage): PromptMessage {
  const index = message.content.findLastIndex((block) => cacheable.has(block.type));
  const block = message.content[index];
  return block ? { ...message, content: message.content.with(index, { ...block, ...mark }) } : message;
}
