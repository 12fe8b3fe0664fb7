import type { z } from 'zod';

import type { ErrorCode } from '../error-codes.ts';

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

/** The first problem as a wire message, for rules that are checked outside a schema. */
export function describeProblem(problem: Problem): string {
  return problem.path.length === 0 ? problem.message : `${problem.path.join('.')}: ${problem.message}`;
}
