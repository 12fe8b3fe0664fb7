import type { PromptMessage } from '@manyhands/ports';

/**
 * Puts system messages where the API takes them: right after a user message, before an answer or at the end, never two
 * in a row. Between two answers, what the users said comes first and the system's words follow in one message. Where no
 * user said anything, they are shown as a user's.
 *
 * What stands between two answers never changes again, so the prefix of a growing conversation stays as it was.
 */
export function placeSystemMessages(messages: readonly PromptMessage[]): PromptMessage[] {
  if (!messages.some((message) => message.role === 'system')) return [...messages];
  const placed: PromptMessage[] = [];
  let between: PromptMessage[] = [];
  for (const message of messages) {
    if (message.role !== 'assistant') {
      between.push(message);
      continue;
    }
    placed.push(...usersFirst(between), message);
    between = [];
  }
  return [...placed, ...usersFirst(between)];
}

function usersFirst(between: readonly PromptMessage[]): PromptMessage[] {
  const users = between.filter((message) => message.role === 'user');
  const content = between.filter((message) => message.role === 'system').flatMap((message) => message.content);
  if (content.length === 0) return users;
  return [...users, { role: users.length > 0 ? 'system' : 'user', content }];
}
