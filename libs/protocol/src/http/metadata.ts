/** Metadata of agents, environments and sessions: at most 16 pairs, keys of 1-64, values of at most 512 characters. */
import { z } from 'zod';

import { hasLength } from './characters.ts';
import { addProblems, type Problem } from './problem.ts';

const maxPairs = 16;
const maxKeyCharacters = 64;
const maxValueCharacters = 512;

export type Metadata = Record<string, string>;
/** Per key: a string sets, null deletes, an absent key stays. */
export type MetadataPatch = Record<string, string | null>;

/** Metadata as a create request gives it. */
export const metadataSchema = z.record(z.string(), z.string()).superRefine((metadata, ctx) => {
  addProblems(ctx, metadataProblems(metadata));
});

/** Metadata as an update request gives it. How many pairs result is checked by whoever applies it. */
export const metadataPatchSchema = z.record(z.string(), z.string().nullable()).superRefine((patch, ctx) => {
  addProblems(ctx, entryProblems(patch));
});

/**
 * The stored metadata with a patch applied. `emptyDeletes` is the environments' rule: there an empty string deletes too.
 * An absent or null patch changes nothing.
 */
export function patchMetadata(
  stored: Metadata,
  patch: MetadataPatch | null | undefined,
  emptyDeletes: boolean = false,
): Metadata {
  const result = new Map(Object.entries(stored));
  for (const [key, value] of Object.entries(patch ?? {})) {
    if (value === null || (emptyDeletes && value === '')) result.delete(key);
    else result.set(key, value);
  }
  return Object.fromEntries(result);
}

/** What the limits refuse in whole metadata, for the result of a patch. */
export function metadataProblems(metadata: Metadata): Problem[] {
  const count = Object.keys(metadata).length;
  if (count > maxPairs) return [problem([], `must have at most ${maxPairs} pairs, got ${count}`)];
  return entryProblems(metadata);
}

/** The same for the field of a body whose patch led to this. */
export function patchedMetadataProblems(metadata: Metadata): Problem[] {
  return metadataProblems(metadata).map((found) => ({ ...found, path: ['metadata', ...found.path] }));
}

function entryProblems(entries: MetadataPatch): Problem[] {
  const problems: Problem[] = [];
  for (const [key, value] of Object.entries(entries)) {
    if (!hasLength(key, 1, maxKeyCharacters)) {
      problems.push(problem([], `keys must have 1 to ${maxKeyCharacters} characters`));
    } else if (value !== null && !hasLength(value, 0, maxValueCharacters)) {
      problems.push(problem([key], `must have at most ${maxValueCharacters} characters`));
    }
  }
  return problems;
}

function problem(path: string[], message: string): Problem {
  return { path, message, code: 'invalid_metadata' };
}
