/** What `session.error` carries: 15 types, each with a message and what becomes of the turn. */
import { z } from 'zod';

/**
 * - `retrying`: the server tries again by itself.
 * - `exhausted`: this turn is dead and its queued inputs are dropped; new messages work.
 * - `terminal`: the session is terminated.
 */
export const retryStatusSchema = z.object({ type: z.enum(['retrying', 'exhausted', 'terminal']) });
export type SessionErrorRetry = z.infer<typeof retryStatusSchema>;

function plainError<T extends string>(type: T) {
  return z.object({ type: z.literal(type), message: z.string(), retry_status: retryStatusSchema });
}

function mcpError<T extends string>(type: T) {
  return plainError(type).extend({ mcp_server_name: z.string() });
}

function repositoryError<T extends string>(type: T) {
  return plainError(type).extend({ repository_url: z.string().nullable() });
}

export const sessionErrorSchema = z.discriminatedUnion('type', [
  plainError('unknown_error'),
  plainError('model_overloaded_error'),
  plainError('model_rate_limited_error'),
  plainError('model_request_failed_error'),
  plainError('billing_error'),
  plainError('tool_use_limit_reached_error'),
  plainError('compaction_limit_reached_error'),
  mcpError('mcp_connection_failed_error'),
  mcpError('mcp_authentication_failed_error'),
  plainError('credential_host_unreachable_error').extend({ credential_id: z.string(), vault_id: z.string() }),
  repositoryError('repository_authentication_error'),
  repositoryError('repository_forbidden_error'),
  repositoryError('repository_not_found_error'),
  repositoryError('repository_checkout_error'),
  repositoryError('repository_clone_error'),
]);
export type SessionError = z.infer<typeof sessionErrorSchema>;
export type SessionErrorType = SessionError['type'];
