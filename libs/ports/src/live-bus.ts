import type { Epoch, EventId, Seq, SessionId } from '@manyhands/protocol';

/** A preview of an event that is being made; never persisted, never the truth. */
export type LiveDelta =
  | { type: 'start'; eventId: EventId; eventType: 'agent.message' | 'agent.thinking'; epoch: Epoch }
  | { type: 'text'; eventId: EventId; index: number; text: string; epoch: Epoch }
  /** The request is over: previews that no event completed are void. */
  | { type: 'end'; epoch: Epoch };

/**
 * Hints and previews between processes. Losing any of them costs previews only.
 *
 * - `subscribe` first hands over what is buffered of unfinished events (a `start`, then all text so far as one `text`
 *   per index; nothing for an event whose buffer is not whole), then what comes, in order per session. A slow
 *   subscriber is dropped from an event, never sent a gap.
 * - `mark`: for the grace start of streams. `placeGrace` sets the mark if none stands (it expires after 10 s),
 *   `readGrace` reads it, `raiseGrace` lifts it to at least `seq` if one stands. Keyed by session and API key.
 */
export interface LiveBus {
  publish(sessionId: SessionId, delta: LiveDelta): void;
  subscribe(sessionId: SessionId, listener: (delta: LiveDelta) => void): () => void;
  placeGrace(sessionId: SessionId, apiKeyId: string, seq: Seq): Promise<void>;
  readGrace(sessionId: SessionId, apiKeyId: string): Promise<{ seq: Seq; placedAt: number } | null>;
  raiseGrace(sessionId: SessionId, apiKeyId: string, seq: Seq): Promise<void>;
}
