/** The body of every error answer, and of an `error` message on a stream. */
import { z } from 'zod';

import { errorCodes, type ErrorCode, type ErrorCodeEntry } from '../error-codes.ts';

export const errorBodySchema = z.object({
  type: z.literal('error'),
  error: z.object({
    type: z.string(),
    message: z.string(),
    details: z.looseObject({ error_code: z.string() }).optional(),
  }),
  request_id: z.string().nullable(),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;

/** The body for a code; the status and the `x-should-retry` header are the caller's, from the same table. */
export function errorBody(code: ErrorCode, message: string, requestId: string | null): ErrorBody {
  const entry: ErrorCodeEntry = errorCodes[code];
  return {
    type: 'error',
    error: {
      type: entry.type,
      message,
      ...(entry.errorCode === undefined ? {} : { details: { error_code: entry.errorCode } }),
    },
    request_id: requestId,
  };
}
