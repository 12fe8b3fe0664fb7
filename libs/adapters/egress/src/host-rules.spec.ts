import type { Networking } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';
import { isHostAllowed, isInDomains, normaliseHost } from './host-rules.ts';

const limited = (allowed_hosts: string[], allow_package_managers = false): Networking => ({
  type: 'limited',
  allowed_hosts,
  allow_mcp_servers: false,
  allow_package_managers,
});

describe('normaliseHost', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['example。com', 'example.com'],
    ['ex%61mple.com', 'example.com'],
    ['2130706433', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['0x7f.0.0.1', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['①②⑦.0.0.1', '127.0.0.1'],
    ['0', '0.0.0.0'],
    ['[::1]', '::1'],
    ['[0:0:0:0:0:ffff:127.0.0.1]', '::ffff:7f00:1'],
  ])('writes %s as %s', (written, expected) => {
    expect(normaliseHost(written)).toBe(expected);
  });

  it.each([
    [''],
    ['.'],
    ['a b'],
    ['a/b'],
    ['a\\b'],
    ['user@host'],
    ['host:80'],
    ['::1'],
    ['[::1%25eth0]'],
    ['a?b'],
    ['a#b'],
    ['256.256.256.256'],
    ['a\0b'],
    ['a'.repeat(300)],
  ])('does not take %j for a host', (written) => {
    expect(normaliseHost(written)).toBeNull();
  });
});

describe('isHostAllowed', () => {
  it('lets every host through when unrestricted', () => {
    expect(isHostAllowed({ type: 'unrestricted' }, 'anything.example')).toBe(true);
  });

  it.each([
    ['api.example.com', 'api.example.com', true],
    ['API.Example.com.', 'api.example.com', true],
    ['bücher.example', 'xn--bcher-kva.example', true],
    ['example.com', 'api.example.com', false],
    ['api.example.com', 'example.com', false],
    ['*.example.com', 'api.example.com', true],
    ['*.example.com', 'a.b.example.com', true],
    ['*.EXAMPLE.com', 'api.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', '.example.com', false],
    ['*.example.com', 'evilexample.com', false],
    ['*.example.com', 'example.com.evil.net', false],
    ['*', 'example.com', false],
    ['203.0.113.1', '203.0.113.1', true],
  ])('%s and %s: %s', (pattern, host, expected) => {
    expect(isHostAllowed(limited([pattern]), host)).toBe(expected);
  });

  it('opens the registries of the package managers on request alone', () => {
    for (const host of [
      'registry.npmjs.org',
      'pypi.org',
      'files.pythonhosted.org',
      'crates.io',
      'de.archive.ubuntu.com',
    ]) {
      expect(isHostAllowed(limited([], true), host)).toBe(true);
      expect(isHostAllowed(limited([]), host)).toBe(false);
    }
    expect(isHostAllowed(limited([], true), 'example.com')).toBe(false);
  });
});

describe('isInDomains', () => {
  it('covers a domain and its subdomains', () => {
    expect(isInDomains(['example.com'], 'example.com')).toBe(true);
    expect(isInDomains(['Example.com'], 'docs.example.com')).toBe(true);
    expect(isInDomains(['docs.example.com'], 'example.com')).toBe(false);
    expect(isInDomains(['example.com'], 'notexample.com')).toBe(false);
  });
});
