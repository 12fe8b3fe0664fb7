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
  const left: { node: unknown; path: (string | number)[]; isPropertyMap: boolean }[] = [
    { node: schema, path: [], isPropertyMap: false },
  ];
  for (let visit = left.pop(); visit; visit = left.pop()) {
    const { node, path, isPropertyMap } = visit;
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, value] of Object.entries(node)) {
      if (isPropertyMap && !/^[A-Za-z0-9_.-]{1,64}$/.test(key)) {
        return [{ path, message: 'property names must have 1 to 64 letters, digits, underscores, dots or hyphens' }];
      }
      if (!isPropertyMap && key === '$ref') return [{ path: [...path, key], message: 'is not supported' }];
      if (!isPropertyMap && plainValues.has(key)) continue;
      left.push({
        node: value,
        path: [...path, key],
        isPropertyMap: !isPropertyMap && key === 'properties' && !Array.isArray(node),
      });
    }
  }
  return [];
}
