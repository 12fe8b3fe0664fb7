/**
 * The language in which a user's message tells the scripted model what to answer.
 *
 * A user message whose text contains `#script`, followed by JSON up to the end of that text, is a script: a list of
 * turns, one for each model request that the message causes. A turn is a list of blocks, or an object with `blocks` and
 * more:
 *
 *     #script {"id":"a1","turns":[
 *       [{"thinking":"Let me look."},{"tool":"bash","input":{"command":"ls"}}],
 *       {"blocks":[{"text":"Two files."}],"tokenDelayMs":20,"faults":[{"kind":"status","status":529,"times":2}]}
 *     ]}
 *
 * Which turn is due is counted in the request alone (see `conversation.ts`): the same request gives the same answer, in
 * any process, however often it is repeated. Only `faults` are counted in memory, by the script's `id` and the turn.
 */

export type ScriptBlock =
  | { text: string }
  | { thinking: string; signature?: string }
  | { redacted: string }
  /** `rawInput` streams these characters as the input, whole JSON or not. */
  | { tool: string; input?: Record<string, unknown>; rawInput?: string; id?: string };

/**
 * What goes wrong before a turn is answered; each strikes `times` requests (1 unless told), one after the other.
 *
 * - `status`: an error answer; `retryAfterMs` is told in `retry-after-ms` and `retry-after`.
 * - `cut`: the connection is reset after that many events of the stream; after 0, before the status line.
 * - `end`: the stream ends politely after that many events, without `message_stop`.
 * - `error`: an `error` event after that many events.
 * - `silence`: nothing more comes after that many events; 0 sends not even a status line.
 */
export type ScriptFault = { times?: number } & (
  | { kind: 'status'; status: number; errorType?: string; message?: string; retryAfterMs?: number }
  | { kind: 'cut'; afterEvents: number }
  | { kind: 'end'; afterEvents: number }
  | { kind: 'error'; afterEvents: number; errorType?: string }
  | { kind: 'silence'; afterEvents: number }
);

export interface ScriptTurn {
  blocks: ScriptBlock[];
  /** Before the first byte. */
  delayMs?: number;
  /** Between two events of the stream. */
  tokenDelayMs?: number;
  /** Characters in one delta; 24 unless told. */
  chunkChars?: number;
  faults?: ScriptFault[];
  /** `tool_use` when there is a tool block, else `end_turn`, unless told. */
  stopReason?: string;
  refusal?: { category: string | null; explanation: string | null };
  usage?: {
    input_tokens?: number;
    cache_creation_input_tokens?: number;
    cache_read_input_tokens?: number;
    output_tokens?: number;
  };
}

export interface Script {
  /** Names the script's conversation in the request log and keeps its faults apart from another's. */
  id?: string;
  turns: ScriptTurn[];
}

export type ScriptTurnInput = ScriptBlock[] | ScriptTurn;

export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

const marker = '#script';

/** The text of a user message that plays these turns. Give an `id` where a test needs to know it. */
export function script(turns: readonly ScriptTurnInput[], id: string = crypto.randomUUID()): string {
  return `${marker} ${JSON.stringify({ id, turns })}`;
}

/** The script in a text, or null when there is none. */
export function parseScript(text: string): Script | null {
  const at = text.indexOf(marker);
  if (at < 0) return null;
  const parsed = parseJson(text.slice(at + marker.length)) as { id?: string; turns?: unknown } | null;
  if (!Array.isArray(parsed?.turns)) throw new ScriptError('a script is an object with a list of turns');
  const turns = parsed.turns.map(turnOf);
  return parsed.id === undefined ? { turns } : { id: parsed.id, turns };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ScriptError(`the script is not JSON: ${String(error)}`, { cause: error });
  }
}

function turnOf(turn: unknown, index: number): ScriptTurn {
  if (Array.isArray(turn)) return { blocks: turn as ScriptBlock[] };
  if (typeof turn === 'object' && turn !== null && 'blocks' in turn && Array.isArray(turn.blocks)) {
    return turn as ScriptTurn;
  }
  throw new ScriptError(`turn ${index} of the script is neither a list of blocks nor an object with blocks`);
}
