import { describe, expect, it } from 'vitest';

import { errorCodes, type ErrorCodeEntry } from '../error-codes.ts';
import { errorBody, errorBodySchema } from './errors.ts';

describe('error bodies', () => {
  it('carry details only where the hosted API names a code', () => {
    expect(errorBody('environment_archived', 'no', 'req_1')).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'no', details: { error_code: 'environment_archived' } },
      request_id: 'req_1',
    });
    expect(errorBody('queue_full', 'later', null)).toEqual({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'later' },
      request_id: null,
    });
  });

  it.each(Object.entries(errorCodes) as [keyof typeof errorCodes, ErrorCodeEntry][])(
    'of %s fit their status',
    (code, entry) => {
      const typeOf: Record<number, string> = {
        400: 'invalid_request_error',
        401: 'authentication_error',
        403: 'permission_error',
        404: 'not_found_error',
        409: 'conflict_error',
        413: 'request_too_large',
        429: 'rate_limit_error',
        500: 'api_error',
        503: 'api_error',
        504: 'timeout_error',
        529: 'overloaded_error',
      };
      expect(entry.type).toBe(typeOf[entry.status]);
      // SDKs repeat every 409 that does not say otherwise.
      expect(entry.shouldRetry).toBe(entry.status === 409 ? false : undefined);
      const body = errorBody(code, 'no', 'req_1');
      expect(errorBodySchema.parse(body)).toEqual(body);
    },
  );
});
