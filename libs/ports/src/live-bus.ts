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
 * - Grace marks, for the grace start of streams, keyed by session and API key: `placeGrace` notes that client events
 *   follow `seq`. A mark that stands keeps its seq if it was placed in the last 2 s, else takes the higher of both; its
 *   time is renewed either way, so that every quick turn of a client has its grace. `readGrace` reads it, `raiseGrace`
 *   lifts it to at least `seq` if one stands and leaves its time. It expires 10 s after it was placed last.
 */
export interface LiveBus {
  publish(sessionId: SessionId, delta: LiveDelta): void;
  subscribe(sessionId: SessionId, listener: (delta: LiveDelta) => void): () => void;
  placeGrace(sessionId: SessionId, apiKeyId: string, seq: Seq): Promise<void>;
  readGrace(sessionId: SessionId, apiKeyId: string): Promise<{ seq: Seq; placedAt: number } | null>;
  raiseGrace(sessionId: SessionId, apiKeyId: string, seq: Seq): Promise<void>;
}
