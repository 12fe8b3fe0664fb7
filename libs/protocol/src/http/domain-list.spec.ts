import { describe, expect, it } from 'vitest';

import { domainListProblems, domainProblem } from './domain-list.ts';

const example = 'provide a plain hostname like "example.com"';

describe('domains of the web tools', () => {
  it.each([
    'example.com',
    'docs.example.com',
    'WWW.Example.com',
    'xn--bcher-kva.example',
    'a-b.co',
    'my_host.example.com',
  ])('accepts %s', (domain) => {
    expect(domainProblem(domain, false)).toBeNull();
  });

  it.each([
    ['', 'must have 1 to 255 characters'],
    [`${'a.'.repeat(130)}com`, 'must have 1 to 255 characters'],
    ['bücher.example', 'must be ASCII without spaces; write international names in punycode (xn--...)'],
    ['https://example.com', `schemes are not supported; ${example}`],
    ['me@example.com', `credentials are not supported; ${example}`],
    ['*.example.com', `wildcards are not supported; a domain covers its subdomains; ${example}`],
    ['example.com/docs', `paths are not supported; ${example}`],
    ['example.com:443', `ports are not supported; ${example}`],
    ['127.0.0.1', `IP addresses are not supported; ${example}`],
    ['[::1]', `IP addresses are not supported; ${example}`],
    ['::1', `IP addresses are not supported; ${example}`],
    ['2130706433', `IP addresses are not supported; ${example}`],
    ['example..com', `not a hostname; ${example}`],
    ['-a.example.com', `not a hostname; ${example}`],
    ['example.com.', `not a hostname; ${example}`],
    ['com', `a single label or top-level domain is not supported; ${example}`],
    ['co.uk', `a public suffix is not supported; ${example}`],
    ['localhost', `private names are not supported; ${example}`],
    ['api.internal', `private names are not supported; ${example}`],
  ])('refuses "%s"', (domain, message) => {
    expect(domainProblem(domain, false)).toBe(message);
  });

  it('may have a path where the tool allows it', () => {
    expect(domainProblem('example.com/docs/a', true)).toBeNull();
    expect(domainProblem('example.com?q=1', true)).toBe(`paths are not supported; ${example}`);
    expect(domainProblem('10.0.0.1/docs', true)).toBe(`IP addresses are not supported; ${example}`);
  });

  it.each([
    [{ allowed_domains: null, blocked_domains: ['a.com'] }, []],
    [
      { allowed_domains: ['a.com'], blocked_domains: ['b.com'] },
      [{ path: [], message: 'Only one of allowed_domains or blocked_domains may be set.' }],
    ],
    [
      { allowed_domains: [] },
      [
        {
          path: ['allowed_domains'],
          message: 'Empty list of domains is ambiguous. Provide at least one domain or null.',
        },
      ],
    ],
    [
      { allowed_domains: ['1.2.3.4'] },
      [{ path: ['allowed_domains', 0], message: `IP addresses are not supported; ${example}` }],
    ],
    [{ blocked_domains: ['a.com', 'A.com'] }, [{ path: ['blocked_domains', 1], message: 'duplicate domain "A.com"' }]],
  ])('says of %j what is wrong', (config, problems) => {
    expect(domainListProblems(config, false)).toEqual(problems);
  });
});
