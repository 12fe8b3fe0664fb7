/**
 * Turns what zod found wrong into the one message of a wire error, such as
 * `tools.0.name: must have 1 to 128 characters`.
 */
import type { z } from 'zod';

import type { ErrorCode } from '../error-codes.ts';

type Issue = z.core.$ZodIssue;

/** An issue with its whole path; unions are opened, so that what is inside them counts like everything else. */
interface Finding {
  path: PropertyKey[];
  message: string;
  code: ErrorCode;
}

/** More would bury the first; the client repeats the request anyway. */
const maxIssues = 3;
/** Clients choose the names in a path, and how deep it goes. */
const maxPathCharacters = 200;

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
  const lines = error.issues.flatMap((issue) => findingsOf(issue, [])).map(line);
  return [...new Set(lines)].slice(0, maxIssues).join('; ');
}

/** The first code an issue was marked with (`params: { code }`), or `invalid_request`. */
export function codeOfIssues(error: z.ZodError): ErrorCode {
  const findings = error.issues.flatMap((issue) => findingsOf(issue, []));
  return findings.find((finding) => finding.code !== 'invalid_request')?.code ?? 'invalid_request';
}

function findingsOf(issue: Issue, prefix: PropertyKey[]): Finding[] {
  const path = [...prefix, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => finding([...path, key], 'Extra inputs are not permitted'));
    case 'invalid_type':
      if (isMissing(issue)) return [finding(path, 'Field required')];
      return [finding(path, `must be ${typeNames[issue.expected] ?? issue.expected}`)];
    case 'invalid_value':
      return [finding(path, `must be ${oneOf(issue.values)}`)];
    case 'invalid_union':
      return findingsInUnion(issue, path);
    case 'custom':
      return [finding(path, issue.message, issue.params?.['code'] as ErrorCode | undefined)];
    default:
      return [finding(path, issue.message)];
  }
}

function findingsInUnion(issue: z.core.$ZodIssueInvalidUnion, path: PropertyKey[]): Finding[] {
  if (issue.inclusive !== false && issue.options) return [finding(path, `must be ${oneOf(issue.options)}`)];
  // The client meant the form whose own type its value has; that form's complaints are the useful ones.
  const meant = issue.errors.find((issues) => !issues.some(isOfWrongType));
  if (meant) return meant.flatMap((one) => findingsOf(one, path));
  const wrong = issue.errors.flatMap((issues) => issues.filter(isOfWrongType));
  if (wrong.every(isMissing)) return [finding(path, 'Field required')];
  const names = new Set(wrong.map((one) => typeNames[one.expected] ?? one.expected));
  return [finding(path, `must be ${[...names].join(' or ')}`)];
}

function isOfWrongType(issue: Issue): issue is z.core.$ZodIssueInvalidType {
  return issue.code === 'invalid_type' && issue.path.length === 0;
}

/** The only trace of a missing field that zod leaves is in its own text. */
function isMissing(issue: z.core.$ZodIssueInvalidType): boolean {
  return issue.message.endsWith('received undefined');
}

function oneOf(values: readonly unknown[]): string {
  const quoted = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  if (quoted.length < 2) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

function finding(path: PropertyKey[], message: string, code: ErrorCode = 'invalid_request'): Finding {
  return { path, message, code };
}

function line({ path, message }: Finding): string {
  if (path.length === 0) return message;
  const text = path.map(String).join('.');
  return `${text.length > maxPathCharacters ? `${text.slice(0, maxPathCharacters)}...` : text}: ${message}`;
}
