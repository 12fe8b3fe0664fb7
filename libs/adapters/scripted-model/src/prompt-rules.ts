import { blocksOf, type Block, type Message, type MessagesRequest } from './messages-api.ts';

/**
 * What the real API refuses about a prompt, so that a prompt that only this server would take is found in tests. Answers
 * what is wrong, or null.
 */
export function promptFault(request: MessagesRequest): string | null {
  if (typeof request.model !== 'string' || request.model === '') return 'model: Field required';
  if (!Number.isInteger(request.max_tokens) || request.max_tokens < 1) return 'max_tokens: must be greater than 0';
  if (!Array.isArray(request.messages) || request.messages.length === 0) {
    return 'messages: at least one message is required';
  }
  if (request.messages[0]?.role !== 'user') return 'messages.0: the first message must have the role user';
  return (
    rolesFault(request.messages) ??
    cacheFault(request) ??
    contentFault(request.messages) ??
    pairingFault(request.messages)
  );
}

function rolesFault(messages: readonly Message[]): string | null {
  for (const [index, message] of messages.entries()) {
    if (!['user', 'assistant', 'system'].includes(message.role)) return `messages.${index}: unknown role`;
    if (message.role !== 'system') continue;
    if (messages[index - 1]?.role !== 'user') return `messages.${index}: a system message must follow a user message`;
    const next = messages[index + 1]?.role ?? 'assistant';
    if (next !== 'assistant')
      return `messages.${index}: a system message must precede an assistant message or be the last`;
  }
  const last = messages.at(-1);
  return last?.role === 'assistant' ? 'This model does not support assistant message prefill.' : null;
}

function cacheFault(request: MessagesRequest): string | null {
  const places = [
    ...(request.tools ?? []),
    ...(Array.isArray(request.system) ? request.system : []),
    ...request.messages.flatMap(blocksOf),
  ];
  const marked = places.filter((place) => 'cache_control' in place);
  if (marked.length > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`;
  const onThinking = marked.some((place) => place['type'] === 'thinking' || place['type'] === 'redacted_thinking');
  return onThinking ? 'cache_control cannot be set on thinking blocks' : null;
}

function contentFault(messages: readonly Message[]): string | null {
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message);
    if (blocks.length === 0) return `messages.${index}: all messages must have non-empty content`;
    if (blocks.some((block) => block.type === 'text' && String(block['text']).trim() === '')) {
      return `messages.${index}: text content blocks must contain non-whitespace text`;
    }
  }
  return null;
}

/** Every call is answered in the user's next turn, before anything else in it, and only calls are answered. */
function pairingFault(messages: readonly Message[]): string | null {
  const turns = mergeTurns(messages);
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1];
    const asked = before?.role === 'assistant' ? idsOf(before.blocks, 'tool_use', 'id') : [];
    const answered = turn.role === 'user' ? idsOf(turn.blocks, 'tool_result', 'tool_use_id') : [];
    const missing = asked.filter((id) => !answered.includes(id));
    if (missing.length > 0)
      return `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`;
    if (answered.some((id) => !asked.includes(id))) return 'unexpected `tool_use_id` found in `tool_result` blocks';
    if (new Set(answered).size < answered.length) return 'each tool_use must have a single result';
    const firstOther = turn.blocks.findIndex((block) => block.type !== 'tool_result');
    const lastResult = turn.blocks.findLastIndex((block) => block.type === 'tool_result');
    if (firstOther >= 0 && firstOther < lastResult) return 'tool_result blocks must come first in a message';
  }
  const ids = turns.flatMap((turn) => idsOf(turn.blocks, 'tool_use', 'id'));
  return new Set(ids).size < ids.length ? 'messages: `tool_use` ids must be unique' : null;
}

function mergeTurns(messages: readonly Message[]): { role: string; blocks: Block[] }[] {
  const turns: { role: string; blocks: Block[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const last = turns.at(-1);
    if (last?.role === message.role) last.blocks.push(...blocksOf(message));
    else turns.push({ role: message.role, blocks: [...blocksOf(message)] });
  }
  return turns;
}

function idsOf(blocks: readonly Block[], type: string, key: string): string[] {
  return blocks.filter((block) => block.type === type).map((block) => String(block[key]));
}
