import { blocksOf, textOf, type Block, type Message, type MessagesRequest } from './messages-api.ts';
import type { ScriptTurn } from './script.ts';

/** A request whose last user message contains this asks for a summary of the conversation (context compaction). */
export const compactionMarker = '<summary>';

const help = [
  'I am the scripted model that comes with Manyhands: I think nothing, but I can use the sandbox.',
  'Ask me to count the files, to list the files, for the time, or to run a command in backticks, such as `uname -a`.',
  'Anything else I repeat. With ANTHROPIC_API_KEY set, a real model takes my place.',
].join(' ');

/** What is asked, and the command that finds out. `$1` stands for the pattern's first group. */
const commands: readonly { asked: RegExp; command: string }[] = [
  { asked: /\b(?:run|execute|try|bash)\b[^`]*`([^`]+)`/i, command: '$1' },
  { asked: /\b(?:run|execute)\s*:\s*(\S.*)/i, command: '$1' },
  { asked: /\b(?:count|how many)\b.*\bfiles?\b/i, command: 'find . -type f | wc -l' },
  { asked: /\b(?:list|show|which|what)\b.*\bfiles?\b/i, command: 'ls -la' },
  { asked: /\bwhat\b.*\b(?:time|date|day)\b/i, command: 'date -u' },
];

/** The answer to a conversation without a script: one command if the user asks for something, else an echo. */
export function unscriptedTurn(request: MessagesRequest): ScriptTurn {
  const latest = sinceLastAnswer(request.messages);
  const results = latest.flatMap(blocksOf).filter((block) => block.type === 'tool_result');
  const asked = latest
    .filter((message) => message.role === 'user')
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n');
  if (asked === '' && results.length > 0) return say(results.map(reportOf).join('\n\n'));
  if (/\b(?:help|who are you|what can you do)\b/i.test(asked)) return say(help);
  const command = commandFor(asked);
  if (command === null || !request.tools?.some((tool) => tool.name === 'bash')) return say(`You said: ${asked}`);
  return { blocks: [{ text: `I will run \`${command}\`.` }, { tool: 'bash', input: { command } }] };
}

export function isCompaction(request: MessagesRequest): boolean {
  const last = request.messages.findLast((message) => message.role === 'user');
  return last !== undefined && textOf(last).includes(compactionMarker);
}

export function compactionTurn(request: MessagesRequest, rest: string | null): ScriptTurn {
  const summary = `The conversation so far had ${request.messages.length} messages.`;
  return say(`<summary>${summary}${rest === null ? '' : `\n${rest}`}</summary>`);
}

function sinceLastAnswer(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1);
}

function commandFor(asked: string): string | null {
  for (const { asked: pattern, command } of commands) {
    const match = pattern.exec(asked);
    if (match) return command.replace('$1', () => match[1] ?? '');
  }
  return null;
}

function reportOf(result: Block): string {
  const content = result['content'];
  const text = (
    typeof content === 'string' ? content : textOf({ role: 'user', content: (content ?? []) as Block[] })
  ).trim();
  if (result['is_error'] === true) return `The command failed:\n${text}`;
  return text === '' ? 'The command printed nothing.' : `The command printed:\n${text}`;
}

function say(text: string): ScriptTurn {
  return { blocks: [{ text }] };
}
