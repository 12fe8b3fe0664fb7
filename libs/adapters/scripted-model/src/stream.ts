import type { Block, MessageAnswer } from './messages-api.ts';

const defaultChunkChars = 24;

/** The events of a streamed answer, each as the bytes that go over the wire. */
export function streamEvents(answer: MessageAnswer, chunkChars = defaultChunkChars): string[] {
  const start = messageOf(answer, [], null);
  start.usage.output_tokens = 1;
  const events = [sse({ type: 'message_start', message: start })];
  for (const [index, block] of answer.blocks.entries()) {
    events.push(sse({ type: 'content_block_start', index, content_block: emptyBlock(block) }));
    if (index === 0) events.push(sse({ type: 'ping' }));
    for (const delta of deltasOf(block, chunkChars)) events.push(sse({ type: 'content_block_delta', index, delta }));
    events.push(sse({ type: 'content_block_stop', index }));
  }
  const delta = { stop_reason: answer.stopReason, stop_sequence: null, stop_details: answer.stopDetails };
  events.push(sse({ type: 'message_delta', delta, usage: answer.usage }));
  events.push(sse({ type: 'message_stop' }));
  return events;
}

/** The answer to a request that did not ask for a stream. */
export function wholeMessage(answer: MessageAnswer): Record<string, unknown> {
  const blocks = answer.blocks.map((block) =>
    block.type === 'tool_use' ? { ...block, input: JSON.parse(String(block['input'])) as unknown } : block,
  );
  return messageOf(answer, blocks, answer.stopReason);
}

export function sse(event: { type: string } & Record<string, unknown>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function messageOf(answer: MessageAnswer, content: Block[], stopReason: string | null) {
  return {
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: stopReason === null ? null : answer.stopDetails,
    usage: {
      ...answer.usage,
      cache_creation: {
        ephemeral_5m_input_tokens: answer.usage.cache_creation_input_tokens,
        ephemeral_1h_input_tokens: 0,
      },
      service_tier: 'standard',
    },
  };
}

function emptyBlock(block: Block): Block {
  if (block.type === 'text') return { ...block, text: '' };
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return block.type === 'tool_use' ? { ...block, input: {} } : block;
}

function deltasOf(block: Block, chunkChars: number): Block[] {
  if (block.type === 'text') {
    return chunks(String(block['text']), chunkChars).map((text) => ({ type: 'text_delta', text }));
  }
  if (block.type === 'thinking') {
    const thoughts = chunks(String(block['thinking']), chunkChars);
    return [
      ...thoughts.map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: block['signature'] },
    ];
  }
  if (block.type === 'tool_use') {
    const parts = ['', ...chunks(String(block['input']), chunkChars)];
    return parts.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
  }
  return [];
}

/** Never splits a surrogate pair, as the real stream never does. */
function chunks(text: string, size: number): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + size);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end += 1;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}
