/**
 * The `anthropic-beta` header opens parts of the API: without the right value an endpoint does not exist. A value that no
 * client of this API has ever sent is a mistake worth telling.
 */
import { ApiError } from './api-error.ts';

export const managedAgentsBeta = 'managed-agents-2026-04-01';

/** What opens a resource, by the first segment of its path after `/v1/`. Files and skills need none. */
const openedBy: Readonly<Record<string, readonly string[]>> = {
  agents: [managedAgentsBeta],
  environments: [managedAgentsBeta],
  sessions: [managedAgentsBeta],
  vaults: [managedAgentsBeta],
  deployments: [managedAgentsBeta],
  deployment_runs: [managedAgentsBeta],
  memory_stores: ['agent-memory-2026-07-22', managedAgentsBeta],
  dreams: ['dreaming-2026-04-21'],
  tunnels: ['mcp-tunnels-2026-06-22'],
  user_profiles: ['user-profiles-2026-08-18', 'user-profiles-2026-03-24', 'user-profiles-2026-09-04'],
};

/** Values of other parts of the hosted API, which clients set once for all their requests. They open nothing here. */
const opensNothingHere = [
  'files-api-2025-04-14 skills-2025-10-02 webhooks-2026-10-07 user-profiles-billing-2026-10-01',
  'message-batches-2024-09-24 prompt-caching-2024-07-31 pdfs-2024-09-25 token-counting-2024-11-01',
  'computer-use-2024-10-22 computer-use-2025-01-24 computer-use-2025-11-24 output-128k-2025-02-19',
  'token-efficient-tools-2025-02-19 mcp-client-2025-04-04 mcp-client-2025-11-20 mcp-client-2026-09-15',
  'extended-cache-ttl-2025-04-11 dev-full-thinking-2025-05-14 interleaved-thinking-2025-05-14',
  'code-execution-2025-05-22 context-1m-2025-08-07 context-management-2025-06-27',
  'model-context-window-exceeded-2025-08-26 structured-outputs-2025-11-13 compact-2026-01-12 compact-2026-09-04',
  'fast-mode-2026-02-01 advisor-tool-2026-03-01 task-budgets-2026-03-13 output-300k-2026-03-24',
  'cache-diagnosis-2026-04-07 thinking-token-count-2026-05-13 server-side-fallback-2026-06-01',
  'server-side-fallback-2026-07-01 fallback-credit-2026-06-01 fallback-credit-2026-07-01',
  'mid-conversation-tool-changes-2026-07-01 mid-conversation-output-config-2026-07-01',
  'mid-conversation-system-clear-at-2026-08-21 thinking-binding-controls-2026-08-01',
  'thinking-display-updates-2026-08-18 inline-tools-2026-09-15 message-threads-2026-08-12',
].flatMap((line) => line.split(' '));

const known: ReadonlySet<string> = new Set([...Object.values(openedBy).flat(), ...opensNothingHere]);

/** Refuses a header with unknown values, and a path that its values do not open. */
export function checkBeta(path: string, header: string | string[] | undefined): void {
  // Nearly every request says exactly this.
  const given = header === managedAgentsBeta ? [managedAgentsBeta] : valuesOf(header);
  refuseUnknown(given);
  const resource = /^\/v1\/([a-z_]+)/.exec(path)?.[1] ?? '';
  const openers = Object.hasOwn(openedBy, resource) ? openedBy[resource] : undefined;
  if (openers === undefined) return;
  if (!openers.some((beta) => given.includes(beta))) {
    throw new ApiError('not_found', `Not found. This endpoint needs the header anthropic-beta: ${openers[0]}.`);
  }
  if (resource === 'memory_stores' && openers.every((beta) => given.includes(beta))) {
    const message = `anthropic-beta: ${openers.join(' and ')} cannot be combined on memory stores.`;
    throw new ApiError('invalid_request', message);
  }
}

function valuesOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  return text.split(',').flatMap((value) => value.trim() || []);
}

function refuseUnknown(given: readonly string[]): void {
  const unknown = given.filter((value) => !known.has(value));
  if (unknown.length === 0) return;
  const quoted = unknown.map((value) => `\`${value}\``).join(', ');
  const message = `Unexpected value(s) ${quoted} for the \`anthropic-beta\` header. Check the spelling of each value.`;
  throw new ApiError('unknown_beta', message);
}
