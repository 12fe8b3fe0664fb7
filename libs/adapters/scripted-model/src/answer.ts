import { createHash } from 'node:crypto';
import type { DueTurn } from './conversation.ts';
import type { Block, MessageAnswer, MessagesRequest, Usage } from './messages-api.ts';
import type { ScriptBlock, ScriptTurn } from './script.ts';

/** Makes the message that a turn answers with. Ids are hashes, so that a repeated request gets the same ones. */
export function answerOf(request: MessagesRequest, due: DueTurn, bodyBytes: number): MessageAnswer {
  const { turn } = due;
  const name = `${due.conversation}/${request.messages.length}`;
  const blocks = turn.blocks.map((block, index) => blockOf(block, `${name}/${index}`));
  return {
    id: `msg_${hash(name)}`,
    model: request.model,
    blocks,
    stopReason: stopReasonOf(turn),
    stopDetails: turn.refusal ? { type: 'refusal', ...turn.refusal } : null,
    usage: { ...usageOf(request, blocks, bodyBytes), ...turn.usage },
  };
}

function stopReasonOf(turn: ScriptTurn): string {
  if (turn.stopReason !== undefined) return turn.stopReason;
  if (turn.refusal) return 'refusal';
  return turn.blocks.some((block) => 'tool' in block) ? 'tool_use' : 'end_turn';
}

function blockOf(block: ScriptBlock, name: string): Block {
  if ('text' in block) return { type: 'text', text: block.text };
  if ('thinking' in block) {
    return { type: 'thinking', thinking: block.thinking, signature: block.signature ?? `sig-${hash(name)}` };
  }
  if ('redacted' in block) return { type: 'redacted_thinking', data: block.redacted };
  const input = block.rawInput ?? JSON.stringify(block.input ?? {});
  return { type: 'tool_use', id: block.id ?? `toolu_${hash(name)}`, name: block.tool, input };
}

/**
 * Four characters are a token. With cache marks, everything up to the last answer counts as read from the cache and what
 * came after it as written to it, which is what marks on both places would give.
 */
function usageOf(request: MessagesRequest, blocks: readonly Block[], bodyBytes: number): Usage {
  const lastAnswer = request.messages.findLastIndex((message) => message.role === 'assistant');
  const fresh = JSON.stringify(request.messages.slice(lastAnswer + 1));
  const newTokens = Math.ceil(fresh.length / 4);
  const oldTokens = Math.max(0, Math.ceil(bodyBytes / 4) - newTokens);
  const isCached = fresh.includes('"cache_control"');
  return {
    input_tokens: isCached ? 3 : oldTokens + newTokens,
    cache_creation_input_tokens: isCached ? newTokens + (lastAnswer < 0 ? oldTokens : 0) : 0,
    cache_read_input_tokens: isCached && lastAnswer >= 0 ? oldTokens : 0,
    output_tokens: Math.max(1, Math.ceil(JSON.stringify(blocks).length / 4)),
  };
}

function hash(name: string): string {
  return createHash('sha1').update(name).digest('base64url').slice(0, 22);
}
