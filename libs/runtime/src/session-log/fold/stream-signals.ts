/** Calls back whoever follows a stream when its copy has grown. It carries no records: those are read from the copy. */
import type { StreamId } from '@manyhands/protocol';

export class StreamSignals {
  readonly #listeners = new Map<StreamId, Set<() => void>>();

  subscribe(streamId: StreamId, listener: () => void): () => void {
    let listeners = this.#listeners.get(streamId);
    if (!listeners) this.#listeners.set(streamId, (listeners = new Set()));
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(streamId);
    };
  }

  notify(streams: Iterable<StreamId>): void {
    for (const streamId of streams) {
      for (const listener of [...(this.#listeners.get(streamId) ?? [])]) listener();
    }
  }
}
