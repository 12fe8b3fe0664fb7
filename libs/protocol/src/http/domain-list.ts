/**
 * The `allowed_domains` and `blocked_domains` of the web tools: at most one of the two, 1-64 entries of 1-255 characters,
 * plain public host names. An entry covers its subdomains; `www.` is nothing special.
 */
import { z } from 'zod';

import type { Problem } from './problem.ts';

const maxDomains = 64;
const maxDomainCharacters = 255;
const example = 'provide a plain hostname like "example.com"';

/** Names that never mean a public host. */
const privateSuffixes = new Set(['localhost', 'local', 'internal', 'localdomain', 'invalid']);

/**
 * Registries' second levels that people write by mistake. Not the whole public suffix list: an entry we do not know only
 * covers more than its author meant.
 */
const publicSuffixes = new Set(
  [
    'co.uk org.uk ac.uk gov.uk me.uk net.uk',
    'com.au net.au org.au edu.au gov.au co.nz org.nz govt.nz',
    'co.jp or.jp ne.jp ac.jp go.jp co.kr or.kr co.in net.in org.in gov.in com.cn net.cn org.cn gov.cn',
    'com.tw com.hk com.sg com.my co.id co.th com.ph com.vn com.br net.br org.br gov.br com.mx com.ar com.co com.pe',
    'com.tr com.ua co.za org.za co.il com.sa com.eg com.ng co.ke com.pl',
    'github.io gitlab.io pages.dev workers.dev vercel.app netlify.app herokuapp.com web.app firebaseapp.com blogspot.com',
  ].flatMap((line) => line.split(' ')),
);

/** A list as a request gives it; null is the same as absent. */
export const domainListSchema = z
  .array(z.string())
  .max(maxDomains, `must have at most ${maxDomains} domains`)
  .nullish();
export type DomainList = z.infer<typeof domainListSchema>;

/** `web_search` entries may end in a path, `web_fetch` entries may not. */
export function domainListProblems(
  config: { allowed_domains?: DomainList; blocked_domains?: DomainList },
  pathAllowed: boolean,
): Problem[] {
  if (config.allowed_domains != null && config.blocked_domains != null) {
    return [{ path: [], message: 'Only one of allowed_domains or blocked_domains may be set.' }];
  }
  return [
    ...listProblems('allowed_domains', config.allowed_domains, pathAllowed),
    ...listProblems('blocked_domains', config.blocked_domains, pathAllowed),
  ];
}

function listProblems(field: string, domains: DomainList, pathAllowed: boolean): Problem[] {
  if (domains == null) return [];
  if (domains.length === 0) {
    return [{ path: [field], message: 'Empty list of domains is ambiguous. Provide at least one domain or null.' }];
  }
  const seen = new Set<string>();
  return domains.flatMap((domain, index) => {
    const key = domain.toLowerCase();
    const message = seen.has(key) ? `duplicate domain "${domain}"` : domainProblem(domain, pathAllowed);
    seen.add(key);
    return message === null ? [] : [{ path: [field, index], message }];
  });
}

/** Why an entry is no domain, or null. */
export function domainProblem(domain: string, pathAllowed: boolean): string | null {
  if (domain.length === 0 || domain.length > maxDomainCharacters) {
    return `must have 1 to ${maxDomainCharacters} characters`;
  }
  if (!/^[\x21-\x7e]+$/.test(domain))
    return 'must be ASCII without spaces; write international names in punycode (xn--...)';
  if (domain.includes('://')) return `schemes are not supported; ${example}`;
  if (domain.includes('@')) return `credentials are not supported; ${example}`;
  if (domain.includes('*')) return `wildcards are not supported; a domain covers its subdomains; ${example}`;
  const slash = domain.search(/[/?#]/);
  if (slash >= 0 && !(pathAllowed && domain[slash] === '/')) return `paths are not supported; ${example}`;
  return hostProblem((slash >= 0 ? domain.slice(0, slash) : domain).toLowerCase());
}

function hostProblem(host: string): string | null {
  if (/^\[|:.*:/.test(host) || /^[\d.]+$/.test(host)) return `IP addresses are not supported; ${example}`;
  if (host.includes(':')) return `ports are not supported; ${example}`;
  const labels = host.split('.');
  if (!labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)))
    return `not a hostname; ${example}`;
  if (privateSuffixes.has(labels.at(-1) ?? '')) return `private names are not supported; ${example}`;
  if (labels.length === 1) return `a single label or top-level domain is not supported; ${example}`;
  if (publicSuffixes.has(host)) return `a public suffix is not supported; ${example}`;
  return null;
}
