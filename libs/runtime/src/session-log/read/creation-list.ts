/**
 * Pages of a list by creation. A cursor holds the time and the id of an item, so a page stands where it stood however many
 * items came or went meanwhile.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ListCursor, ListQuery } from '@manyhands/ports';
import type { Instant } from '@manyhands/protocol';

export interface ListedRow {
  id: string;
  createdAt: Instant;
}

type Filter = [condition: string, values: (string | number)[]];

const keptStatements = 64;

export class CreationList {
  readonly #db: DatabaseSync;
  readonly #table: string;
  readonly #id: string;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, of: { table: string; id: string }) {
    this.#db = db;
    this.#table = of.table;
    this.#id = of.id;
  }

  page(query: ListQuery, filters: readonly Filter[]): { rows: ListedRow[]; hasMore: boolean } {
    const direction = (query.order === 'asc') !== (query.backwards === true) ? 'asc' : 'desc';
    const all: Filter[] = [['workspace = ?', [query.workspaceId]], ...filters, ...timeFilters(query)];
    if (query.after) all.push(this.#behind(query.after, direction));
    const sql = `SELECT ${this.#id} AS id, created_at AS createdAt FROM ${this.#table}
      WHERE ${all.map(([condition]) => condition).join(' AND ')}
      ORDER BY created_at ${direction}, ${this.#id} ${direction} LIMIT ?`;
    const values = all.flatMap(([, bound]) => bound);
    const rows = this.#statement(sql).all(...values, query.limit + 1) as unknown as ListedRow[];
    const hasMore = rows.length > query.limit;
    if (hasMore) rows.pop();
    return { rows: query.backwards ? rows.reverse() : rows, hasMore };
  }

  #behind({ createdAt, id }: ListCursor, direction: 'asc' | 'desc'): Filter {
    const sign = direction === 'asc' ? '>' : '<';
    return [`(created_at, ${this.#id}) ${sign} (?, ?)`, [createdAt, id]];
  }

  /** Filters come in few combinations; what is beyond is prepared anew. */
  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#db.prepare(sql);
    if (this.#statements.size < keptStatements) this.#statements.set(sql, statement);
    return statement;
  }
}

function timeFilters({ createdAt }: ListQuery): Filter[] {
  const filters: Filter[] = [];
  if (createdAt.gt !== undefined) filters.push(['created_at > ?', [createdAt.gt]]);
  if (createdAt.gte !== undefined) filters.push(['created_at >= ?', [createdAt.gte]]);
  if (createdAt.lt !== undefined) filters.push(['created_at < ?', [createdAt.lt]]);
  if (createdAt.lte !== undefined) filters.push(['created_at <= ?', [createdAt.lte]]);
  return filters;
}
