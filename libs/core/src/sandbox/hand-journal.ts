/**
 * The journal of a hand: one JSON text a line, appended by the daemon, read by it and by whoever asks after a dead hand.
 *
 * - `started` is on disk before the call does anything; `finished` is on disk before the result is told (E6).
 * - A call that was cancelled before it started has a `finished` alone.
 * - The sandbox can write to its own journal. A reader believes its form alone, never that it is honest.
 */
import type { ToolResultContent } from '@manyhands/protocol';

export type HandJournalLine =
  | { kind: 'started'; id: string; name: string; at: number }
  | { kind: 'finished'; id: string; at: number; isError: boolean; content: ToolResultContent[] };

export type JournaledExecution =
  { state: 'unknown' } | { state: 'running' } | { state: 'finished'; isError: boolean; content: ToolResultContent[] };

/** What the lines say about one execution. The first `finished` stands. */
export function journaledExecution(lines: Iterable<string>, id: string): JournaledExecution {
  let found: JournaledExecution = { state: 'unknown' };
  for (const text of lines) {
    // Most lines are another call's result, and long: they are passed over without parsing.
    if (!text.includes(id)) continue;
    const line = parseJournalLine(text);
    if (line?.id !== id) continue;
    if (line.kind === 'finished') return { state: 'finished', isError: line.isError, content: line.content };
    found = { state: 'running' };
  }
  return found;
}

/** null for what is no line of a journal: the torn end of one that was being written, or what somebody else wrote. */
export function parseJournalLine(text: string): HandJournalLine | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { kind, id, name, at, isError, content } = value as Record<string, unknown>;
  if (typeof id !== 'string' || typeof at !== 'number') return null;
  if (kind === 'started') return typeof name === 'string' ? { kind, id, name, at } : null;
  if (kind !== 'finished' || typeof isError !== 'boolean' || !Array.isArray(content)) return null;
  return content.every(isContent) ? { kind, id, at, isError, content } : null;
}

/** A hand answers with text and images. */
function isContent(value: unknown): value is ToolResultContent {
  if (typeof value !== 'object' || value === null) return false;
  const block = value as Record<string, unknown>;
  if (block['type'] === 'text') return typeof block['text'] === 'string';
  if (block['type'] !== 'image' || typeof block['source'] !== 'object' || block['source'] === null) return false;
  const source = block['source'] as Record<string, unknown>;
  return source['type'] === 'base64' && typeof source['data'] === 'string' && typeof source['media_type'] === 'string';
}
