/** Parts of the API that this version does not have: known by name, so that their 404 says so. */
const laterResources = new Set([
  'deployment_runs',
  'deployments',
  'dreams',
  'files',
  'memory_stores',
  'organizations',
  'skills',
  'tunnels',
  'user_profiles',
  'vaults',
  'webhooks',
]);

const laterParts = /^\/v1\/(?:environments\/[^/]+\/work|sessions\/[^/]+\/(?:effects|fork|workflow_runs))(?:\/|$)/;

export function messageForUnknownPath(method: string, path: string): string {
  const resource = /^\/v1\/([a-z_]+)(?:\/|$)/.exec(path)?.[1];
  if (resource !== undefined && laterResources.has(resource)) {
    return `/v1/${resource} is not available in this version.`;
  }
  if (laterParts.test(path)) return `${method} ${path} is not available in this version.`;
  return `There is no ${method} ${path}.`;
}
