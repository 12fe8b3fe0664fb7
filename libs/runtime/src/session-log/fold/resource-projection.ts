/** The rows of agents and environments, written once per transaction. */
import { evolveResource, resourceIdOf, type ResourceState } from '@manyhands/core';
import type { Logger } from '@manyhands/ports';
import type { ResourceFoldRecord, Seq } from '@manyhands/protocol';
import type { Copy } from '../copy/copy.ts';
import type { StreamRow } from '../copy/stream-rows.ts';

export class ResourceProjection {
  readonly #copy: Copy;
  readonly #logger: Logger;
  readonly #dirty = new Map<string, { row: StreamRow; state: ResourceState }>();

  constructor(copy: Copy, logger: Logger) {
    this.#copy = copy;
    this.#logger = logger;
  }

  /** Takes one record; false when it broke the stream. */
  evolve(row: StreamRow, record: ResourceFoldRecord): boolean {
    try {
      const id = resourceIdOf(record);
      const before = this.#dirty.get(id)?.state ?? this.#copy.resources.get(row.workspaceId, id);
      const state = evolveResource(before, record);
      this.#dirty.set(id, { row, state });
      if (record.kind === 'agent.created' || record.kind === 'agent.updated') {
        this.#copy.resources.addVersion(record.facets.agentId, record.facets.version, record.seq, record.time);
      }
      return true;
    } catch (cause) {
      const { streamId } = row;
      this.#logger.error(
        { streamId, seq: record.seq, kind: record.kind, cause: String(cause) },
        'a record breaks its stream',
      );
      return false;
    }
  }

  /** Folds a stream again from its local records; answers the seq that broke it, or 0. */
  refold(row: StreamRow): Seq {
    this.#copy.resources.clear(row.id);
    for (const [id, dirty] of this.#dirty) if (dirty.row.id === row.id) this.#dirty.delete(id);
    for (const record of this.#copy.records.foldRecords(row.id, 0 as Seq, row.seq)) {
      if (!this.evolve(row, record as ResourceFoldRecord)) return record.seq;
    }
    return 0 as Seq;
  }

  flush(): void {
    for (const { row, state } of this.#dirty.values()) this.#copy.resources.save(row, state);
    this.#dirty.clear();
  }

  forget(): void {
    this.#dirty.clear();
  }
}
