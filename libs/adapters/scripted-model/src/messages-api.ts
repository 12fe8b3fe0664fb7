/** The part of the Messages API's shapes that this server reads and writes. */

export type Block = { type: string } & Record<string, unknown>;

export interface Message {
  role: 'user' | 'assistant' | 'system';
  content: string | Block[];
}

export interface MessagesRequest {
  model: string;
  max_tokens: number;
  messages: Message[];
  system?: string | Block[];
  tools?: ({ name: string } & Record<string, unknown>)[];
  stream?: boolean;
}

export interface Usage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
}

export interface MessageAnswer {
  id: string;
  model: string;
  blocks: Block[];
  stopReason: string;
  stopDetails: { type: 'refusal'; category: string | null; explanation: string | null } | null;
  usage: Usage;
}

export function blocksOf(message: Message): Block[] {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}

/** All text of a message; blocks of other types are left out. */
export function textOf(message: Message): string {
  const texts = blocksOf(message).flatMap((block) => (block.type === 'text' ? [String(block['text'])] : []));
  return texts.join('\n');
}

/** Errors of the API carry a type for each status. */
export function errorTypeOf(status: number): string {
  return errorTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
