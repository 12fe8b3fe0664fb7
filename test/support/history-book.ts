/** Keeps the last history seen of every session, and tells when a newer one does not just go on from it. */
import { isDeepStrictEqual } from 'node:util';
import type { SessionEvent } from './stream-recorder.ts';

export class HistoryBook {
  readonly #last = new Map<string, readonly SessionEvent[]>();
  /** What was wrong at any look. */
  readonly faults: string[] = [];
  /** Histories that were compared with an earlier one. */
  compared = 0;

  note(sessionId: string, history: readonly SessionEvent[]): void {
    const before = this.#last.get(sessionId);
    if (before) {
      this.compared++;
      this.faults.push(...growthFaults(before, history).map((fault) => `${sessionId}: ${fault}`));
    }
    this.#last.set(sessionId, history);
  }
}

/** What has its place keeps it, and what waits is still there, waiting or placed. */
export function growthFaults(before: readonly SessionEvent[], after: readonly SessionEvent[]): string[] {
  const placed = after.filter(isPlaced);
  const changed = before
    .filter(isPlaced)
    .flatMap((event, index) =>
      isDeepStrictEqual(event, placed[index])
        ? []
        : [`${event.type} ${event.id} was at ${index}, where ${placed[index]?.id ?? 'nothing'} is now`],
    );
  const byId = new Map(after.map((event) => [event.id, event]));
  const lost = before
    .filter((event) => !isPlaced(event))
    .flatMap((event) => {
      const now = byId.get(event.id);
      if (!now) return [`${event.type} ${event.id} waited and is gone`];
      const isSame = isDeepStrictEqual({ ...event, processed_at: null }, { ...now, processed_at: null });
      return isSame ? [] : [`${event.type} ${event.id} waited and has changed`];
    });
  return [...changed, ...lost];
}

function isPlaced(event: SessionEvent): boolean {
  return event.processed_at != null;
}
