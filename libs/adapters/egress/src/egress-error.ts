/** Why a connection was not made or did not last, with the HTTP status that the proxy answers. */
const STATUSES = {
  bad_target: 400,
  host_not_allowed: 403,
  address_not_allowed: 403,
  not_supported: 501,
  name_not_resolved: 502,
  connect_failed: 502,
  upstream_failed: 502,
  policy_unavailable: 503,
  too_many_connections: 503,
  connect_timeout: 504,
  upstream_timeout: 504,
} as const;

export type EgressErrorCode = keyof typeof STATUSES;

export const egressErrorCodes = Object.keys(STATUSES) as EgressErrorCode[];

/**
 * The one error of this adapter. Its message is read inside the sandbox and by the model: it names the wanted host and the
 * class of an address, never a resolved address, a header, a path or anything of the server's own network.
 */
export class EgressError extends Error {
  readonly code: EgressErrorCode;
  readonly retriable: boolean;

  constructor(code: EgressErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'EgressError';
    this.code = code;
    this.retriable = STATUSES[code] >= 502;
  }

  get status(): number {
    return STATUSES[this.code];
  }
}
