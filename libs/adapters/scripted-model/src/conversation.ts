import { createHash } from 'node:crypto';
import { compactionTurn, isCompaction, unscriptedTurn } from './unscripted.ts';
import { blocksOf, type MessagesRequest } from './messages-api.ts';
import { parseScript, script, type ScriptTurn } from './script.ts';

/** The turn that answers a request, and the names under which it is counted. */
export interface DueTurn {
  /** The script's id, or a hash of how the conversation began. */
  conversation: string;
  /** Position in the script; -1 without one. */
  index: number;
  turn: ScriptTurn;
}

interface Playing {
  id: string | undefined;
  turns: ScriptTurn[];
  played: number;
}

/**
 * Finds the due turn from the request alone: a script in a user message starts at its first turn, and every assistant
 * message after it has played one. A later script replaces what was left of an earlier one, unless both came before the
 * model answered: those are played one after the other.
 */
export function dueTurn(request: MessagesRequest): DueTurn {
  const playing = findPlaying(request);
  const conversation = playing?.id ?? conversationKey(request);
  const left = playing?.turns.slice(playing.played) ?? [];
  if (isCompaction(request)) {
    // What is left of a script goes on in the summary, for the messages that hold it are about to disappear.
    const rest = left.length > 0 ? script(left, conversation) : null;
    return { conversation, index: -1, turn: compactionTurn(request, rest) };
  }
  if (!playing) return { conversation, index: -1, turn: unscriptedTurn(request) };
  const turn = left[0] ?? { blocks: [{ text: 'The script has ended.' }] };
  return { conversation, index: playing.played, turn };
}

function findPlaying(request: MessagesRequest): Playing | null {
  let playing: Playing | null = null;
  for (const message of request.messages) {
    if (message.role === 'assistant') {
      if (playing) playing.played += 1;
      continue;
    }
    for (const block of blocksOf(message)) {
      const found = block.type === 'text' ? parseScript(String(block['text'])) : null;
      if (found && playing?.played === 0) playing.turns.push(...found.turns);
      else if (found) playing = { id: found.id, turns: [...found.turns], played: 0 };
    }
  }
  return playing;
}

function conversationKey(request: MessagesRequest): string {
  const beginning = JSON.stringify([request.system ?? null, request.messages[0] ?? null]);
  return createHash('sha1').update(beginning).digest('hex').slice(0, 16);
}
