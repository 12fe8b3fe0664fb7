import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { codeOfIssues, describeIssues } from './describe-issues.ts';
import { addProblems } from './problem.ts';

const either = z.union([z.string(), z.strictObject({ id: z.string(), size: z.int().optional() })]);
const kinds = z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })]);
const marked = z.string().superRefine((_, ctx) => {
  addProblems(ctx, [{ path: [], message: 'is marked', code: 'environment_archived' }]);
});

function errorOf(schema: z.ZodType, value: unknown): z.ZodError {
  const parsed = schema.safeParse(value);
  if (parsed.success) throw new Error('nothing to describe');
  return parsed.error;
}

describe('issues as one message', () => {
  it.each([
    ['a missing field', z.object({ a: z.string() }), {}, 'a: Field required'],
    ['a field of the wrong type', z.object({ a: z.int() }), { a: 'x' }, 'a: must be a number'],
    ['no object at all', z.object({}), [], 'must be an object'],
    ['an unknown value', z.enum(['a', 'b', 'c']), 'x', "must be 'a', 'b' or 'c'"],
    ['an unknown kind', z.array(kinds), [{ type: 'c' }], "0.type: must be 'a' or 'b'"],
    ['no kind', kinds, {}, "type: must be 'a' or 'b'"],
    ['neither form', z.object({ a: either }), { a: 1 }, 'a: must be a string or an object'],
    ['a missing union', z.object({ a: either }), {}, 'a: Field required'],
    [
      'the form that was meant',
      z.object({ a: either }),
      { a: { size: 'x' } },
      'a.id: Field required; a.size: must be a number',
    ],
    [
      'unknown fields one by one',
      z.strictObject({}),
      { a: 1, b: 2 },
      'a: Extra inputs are not permitted; b: Extra inputs are not permitted',
    ],
    [
      'no more than three',
      z.strictObject({}),
      { a: 1, b: 2, c: 3, d: 4 },
      'a: Extra inputs are not permitted; b: Extra inputs are not permitted; c: Extra inputs are not permitted',
    ],
    [
      'names that are not too long',
      z.strictObject({}),
      { ['n'.repeat(1000)]: 1 },
      `${'n'.repeat(200)}...: Extra inputs are not permitted`,
    ],
  ])('names %s', (_, schema, value, message) => {
    expect(describeIssues(errorOf(schema, value))).toBe(message);
  });

  it.each([
    ['a marked issue', z.object({ a: marked }), { a: 'x' }, 'environment_archived'],
    ['a marked issue inside a union', z.object({ a: z.union([z.int(), marked]) }), { a: 'x' }, 'environment_archived'],
    ['anything else', z.string(), 1, 'invalid_request'],
  ])('has the code of %s', (_, schema, value, code) => {
    expect(codeOfIssues(errorOf(schema, value))).toBe(code);
  });
});
