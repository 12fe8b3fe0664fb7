/** Which hosts an environment's networking allows, by name. Checked before a name is resolved: a query can carry data too. */
import type { Networking } from '@manyhands/protocol';

/** The public registries of the package managers that an environment may use, and what these download from. */
const PACKAGE_HOSTS: readonly string[] = [
  // apt
  'archive.ubuntu.com',
  '*.archive.ubuntu.com',
  'security.ubuntu.com',
  'ports.ubuntu.com',
  'deb.debian.org',
  'security.debian.org',
  // cargo and rustup
  'crates.io',
  'index.crates.io',
  'static.crates.io',
  'static.rust-lang.org',
  // gem
  'rubygems.org',
  '*.rubygems.org',
  // go
  'proxy.golang.org',
  'sum.golang.org',
  'index.golang.org',
  // npm, yarn, and the headers that native modules are built with
  'registry.npmjs.org',
  'registry.yarnpkg.com',
  'nodejs.org',
  // pip
  'pypi.org',
  'pypi.python.org',
  'files.pythonhosted.org',
  // maven and composer
  'repo.maven.apache.org',
  'repo1.maven.org',
  'repo.packagist.org',
];

/**
 * One spelling for every way of writing a host: lower case, punycode, no trailing dot, no brackets, and dotted decimals for
 * IPv4 in decimal, hexadecimal, octal or shortened notation. Null for what is no host.
 */
export function normaliseHost(text: string): string | null {
  if (text === '' || /[\s/\\?#@]/.test(text)) return null;
  if (text.includes(':') && !/^\[[^\]]*\]$/.test(text)) return null;
  const url = URL.parse(`http://${text}`);
  if (!url) return null;
  const host = url.hostname.replace(/\.$/, '').replace(/^\[(.*)\]$/, '$1');
  return host === '' || host.length > 253 ? null : host;
}

/** `host` is normalised; `*.example.com` covers every name below example.com, not example.com itself. */
export function isHostAllowed(networking: Networking, host: string): boolean {
  if (networking.type === 'unrestricted') return true;
  const packageHosts = networking.allow_package_managers ? PACKAGE_HOSTS : [];
  return [...networking.allowed_hosts, ...packageHosts].some((pattern) => matchesPattern(pattern, host));
}

function matchesPattern(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return normaliseHost(pattern) === host;
  const parent = normaliseHost(pattern.slice(2));
  return parent !== null && isBelow(host, parent);
}

function isBelow(host: string, parent: string): boolean {
  return host.length > parent.length + 1 && host.endsWith(`.${parent}`);
}

/** The rule of the web tools: a domain covers itself and its subdomains. */
export function isInDomains(domains: readonly string[], host: string): boolean {
  return domains.some((domain) => {
    const parent = normaliseHost(domain);
    return parent !== null && (host === parent || isBelow(host, parent));
  });
}
