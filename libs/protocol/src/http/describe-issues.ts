/**
 * Turns what zod found wrong into the one message of a wire error, such as
 * `tools.0.name: must have 1 to 128 characters`.
 */
import type { z } from 'zod';

import type { ErrorCode } from '../error-codes.ts';

type Issue = z.core.$ZodIssue;

/** More would bury the first; the client repeats the request anyway. */
const maxIssues = 3;

const typeNames: Record<string, string> = {
  array: 'a list',
  boolean: 'a boolean',
  int: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

/** The first few issues, each with its path. */
export function describeIssues(error: z.ZodError): string {
  const lines = error.issues.flatMap((issue) => describe(issue, []));
  return [...new Set(lines)].slice(0, maxIssues).join('; ');
}

/** The code an issue was marked with (`params: { code }`), or `invalid_request`. */
export function codeOfIssues(error: z.ZodError): ErrorCode {
  for (const issue of error.issues) {
    if (issue.code === 'custom' && issue.params?.['code']) return issue.params['code'] as ErrorCode;
  }
  return 'invalid_request';
}

function describe(issue: Issue, prefix: PropertyKey[]): string[] {
  const path = [...prefix, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => line([...path, key], 'Extra inputs are not permitted'));
    case 'invalid_type':
      // The only trace of a missing field that zod leaves is in its own text.
      if (issue.message.endsWith('received undefined')) return [line(path, 'Field required')];
      return [line(path, `must be ${typeNames[issue.expected] ?? issue.expected}`)];
    case 'invalid_value':
      return [line(path, `must be ${oneOf(issue.values)}`)];
    case 'invalid_union':
      return describeUnion(issue, path);
    default:
      return [line(path, issue.message)];
  }
}

function describeUnion(issue: z.core.$ZodIssueInvalidUnion, path: PropertyKey[]): string[] {
  if (issue.inclusive !== false && issue.options) return [line(path, `must be ${oneOf(issue.options)}`)];
  // The client meant the form whose own type its value has; that form's complaints are the useful ones.
  const meant = issue.errors.find(
    (issues) => !issues.some((one) => one.code === 'invalid_type' && one.path.length === 0),
  );
  if (meant) return meant.flatMap((one) => describe(one, path));
  const expected = issue.errors.flatMap((issues) =>
    issues.map((one) => (one.code === 'invalid_type' ? one.expected : '')),
  );
  const names = [...new Set(expected)].filter((name) => name !== '').map((name) => typeNames[name] ?? name);
  return [line(path, `must be ${names.join(' or ')}`)];
}

function oneOf(values: readonly unknown[]): string {
  const quoted = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  if (quoted.length < 2) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

function line(path: PropertyKey[], message: string): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}
