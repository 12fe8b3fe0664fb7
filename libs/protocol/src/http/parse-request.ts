import type { z } from 'zod';

import type { Refusal } from '../session-command.ts';
import { codeOfIssues, describeIssues } from './describe-issues.ts';

/** A body or query as its schema reads it, or the refusal that names what is wrong. */
export function parseRequest<S extends z.ZodType>(
  schema: S,
  raw: unknown,
): { ok: true; value: z.output<S> } | { ok: false; refusal: Refusal } {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, refusal: { code: codeOfIssues(parsed.error), message: describeIssues(parsed.error) } };
}
