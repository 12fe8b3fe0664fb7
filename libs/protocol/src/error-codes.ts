/**
 * Every way the public API says no: our stable code, and what of it stands on the wire. The SDK picks its error class by
 * status and `details.error_code`; only codes that the hosted API names are sent there.
 */

/** `error.type` of a wire error. */
export type WireErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'api_error'
  | 'timeout_error'
  | 'overloaded_error';

export interface ErrorCodeEntry {
  status: number;
  type: WireErrorType;
  /** `error.details.error_code`. */
  errorCode?: string;
  /** Value of the `x-should-retry` header: SDKs repeat a 409 unless told not to. */
  shouldRetry?: boolean;
}

const invalid = { status: 400, type: 'invalid_request_error' } as const;
const conflict = { status: 409, type: 'conflict_error', shouldRetry: false } as const;

export const errorCodes = {
  // Who asks
  authentication_failed: { status: 401, type: 'authentication_error' },
  two_credentials: { status: 401, type: 'authentication_error' },
  permission_denied: { status: 403, type: 'permission_error' },

  // What is asked
  invalid_request: invalid,
  unknown_beta: invalid,
  invalid_cursor: invalid,
  invalid_metadata: { ...invalid, errorCode: 'invalid_metadata' },
  not_supported: invalid,
  request_too_large: { status: 413, type: 'request_too_large' },
  idempotency_key_reused: conflict,

  // An id that names nothing here, or a missing beta header
  not_found: { status: 404, type: 'not_found_error' },
  environment_not_found: { status: 404, type: 'not_found_error', errorCode: 'environment_not_found' },

  // Agents
  agent_archived: invalid,
  agent_version_conflict: conflict,
  agent_model_required: { ...invalid, errorCode: 'agent_model_required' },
  unknown_model: invalid,
  web_search_unavailable: invalid,

  // Environments
  environment_archived: { ...invalid, errorCode: 'environment_archived' },
  environment_name_taken: conflict,
  invalid_config_type_change: { ...invalid, errorCode: 'invalid_config_type_change' },
  mcp_host_blocked: invalid,
  self_hosted_resources: invalid,

  // Sessions
  session_running: invalid,
  session_terminated: invalid,
  workflow_run_open: { ...invalid, errorCode: 'workflow_run_open' },
  vault_ids_not_updatable: invalid,
  budget_create_only: { ...invalid, errorCode: 'budget_create_only' },
  budget_not_raised: { ...invalid, errorCode: 'budget_not_raised' },
  model_not_budgetable: { ...invalid, errorCode: 'model_not_budgetable' },

  // Events
  action_required: invalid,
  budget_reached: invalid,
  tool_call_not_open: invalid,
  confirmation_not_asked: invalid,
  outcome_active: invalid,
  model_does_not_support_mid_conversation_system: {
    ...invalid,
    errorCode: 'model_does_not_support_mid_conversation_system',
  },
  queue_full: { status: 429, type: 'rate_limit_error' },

  // Threads
  thread_running: invalid,
  thread_terminated: invalid,
  primary_thread: invalid,

  // The server itself
  rate_limited: { status: 429, type: 'rate_limit_error' },
  internal_error: { status: 500, type: 'api_error' },
  unavailable: { status: 503, type: 'api_error' },
  timeout: { status: 504, type: 'timeout_error' },
  overloaded: { status: 529, type: 'overloaded_error' },
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof errorCodes;
