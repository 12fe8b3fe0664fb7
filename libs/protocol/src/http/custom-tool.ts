/** What a custom tool may look like: its name, description and input schema. */
import { z } from 'zod';

import { addProblems, type Problem } from './problem.ts';
import { builtinToolNames, toolInputSchemaSchema } from './tools.ts';

const reservedNames = new Set<string>(builtinToolNames);
/** Model-side names of MCP tools begin with it. */
const reservedPrefix = 'mcp__';
const refusedAtTop = ['oneOf', 'anyOf', 'allOf'];
/** Keywords whose values are examples of input, not schemas. */
const plainValues = new Set(['const', 'default', 'enum', 'example', 'examples']);

const toolNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, 'must have 1 to 128 letters, digits, underscores or hyphens')
  .refine((name) => !reservedNames.has(name), 'is the name of a built-in tool')
  .refine((name) => !name.startsWith(reservedPrefix), `must not begin with "${reservedPrefix}"`);

/** More would overflow those who walk it by recursion, JSON.stringify among them. */
const maxDepth = 100;

/** `$ref` anywhere, a union at the top and unusual property names are refused. */
export const customToolParamsSchema = z.strictObject({
  type: z.literal('custom'),
  name: toolNameSchema,
  description: z.string().min(1, 'must not be empty'),
  input_schema: toolInputSchemaSchema.superRefine((schema, ctx) => addProblems(ctx, schemaProblems(schema))),
});
export type CustomToolParams = z.infer<typeof customToolParamsSchema>;

function schemaProblems(schema: Record<string, unknown>): Problem[] {
  const top = refusedAtTop.filter((keyword) => keyword in schema);
  if (top.length > 0) return top.map((keyword) => ({ path: [keyword], message: 'is not supported at the top level' }));
  // A list of what is left to visit instead of recursion: a client decides how deep this goes.
  const left: Visit[] = [{ node: schema, path: [], kind: 'schema' }];
  for (let visit = left.pop(); visit; visit = left.pop()) {
    const { node, path, kind } = visit;
    if (typeof node !== 'object' || node === null) continue;
    if (path.length > maxDepth) return [{ path: path.slice(0, 1), message: `must have at most ${maxDepth} levels` }];
    for (const [key, value] of Object.entries(node)) {
      const message = keyProblem(key, kind);
      if (message !== null) return [{ path: kind === 'schema' ? [...path, key] : path, message }];
      left.push({ node: value, path: [...path, key], kind: kindOfValue(key, visit) });
    }
  }
  return [];
}

interface Visit {
  node: unknown;
  path: string[];
  /** A schema (or a list of some), the names of its properties, or plain data. */
  kind: 'schema' | 'properties' | 'data';
}

function keyProblem(key: string, kind: Visit['kind']): string | null {
  if (kind === 'schema' && key === '$ref') return 'is not supported';
  if (kind !== 'properties' || /^[A-Za-z0-9_.-]{1,64}$/.test(key)) return null;
  return 'property names must have 1 to 64 letters, digits, underscores, dots or hyphens';
}

function kindOfValue(key: string, { node, kind }: Visit): Visit['kind'] {
  if (kind === 'data' || (kind === 'schema' && plainValues.has(key))) return 'data';
  return kind === 'schema' && key === 'properties' && !Array.isArray(node) ? 'properties' : 'schema';
}
