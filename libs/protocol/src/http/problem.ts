import type { z } from 'zod';

import type { ErrorCode } from '../error-codes.ts';
import type { Refusal } from '../session-command.ts';

/** What a rule across several fields found wrong, and where. */
export interface Problem {
  path: (string | number)[];
  message: string;
  /** Absent: `invalid_request`. */
  code?: ErrorCode;
}

/** Hands problems to zod, so that one parse reports everything. */
export function addProblems(ctx: z.core.$RefinementCtx, problems: Problem[]): void {
  for (const { path, message, code } of problems) {
    ctx.addIssue({ code: 'custom', path, message, params: code === undefined ? {} : { code } });
  }
}

/** The first problem as a refusal, for rules that are checked outside a schema; null when there is none. */
export function refusalOf([problem]: Problem[]): Refusal | null {
  if (problem === undefined) return null;
  const { path, message, code = 'invalid_request' } = problem;
  return { code, message: path.length === 0 ? message : `${path.join('.')}: ${message}` };
}
