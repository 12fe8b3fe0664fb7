import { describe, expect, it } from 'vitest';
import { AllowList } from './allow-list.ts';

const permits = (entry: string, host: string, port: number, address: string) =>
  new AllowList([entry]).permits({ host, port }, address);

describe('AllowList', () => {
  it.each([
    ['127.0.0.1', 'any.example', 80, '127.0.0.1'],
    ['127.0.0.1:8080', '127.0.0.1', 8080, '127.0.0.1'],
    ['127.0.0.1', 'any.example', 80, '::ffff:127.0.0.1'],
    ['[::1]:8443', '::1', 8443, '::1'],
    ['fd00::7', 'x.corp', 1, 'fd00::7'],
    ['10.1.0.0/16', 'x.corp', 443, '10.1.255.3'],
    ['fd00::/8', 'x.corp', 443, 'fd12::1'],
    ['Registry.Corp:5000', 'registry.corp', 5000, '10.0.0.9'],
    ['registry.corp.', 'registry.corp', 443, '10.0.0.9'],
  ])('%s permits %s:%i at %s', (entry, host, port, address) => {
    expect(permits(entry, host, port, address)).toBe(true);
  });

  it.each([
    ['127.0.0.1:8080', '127.0.0.1', 8081, '127.0.0.1'],
    ['10.1.0.0/16', 'x.corp', 443, '10.2.0.1'],
    ['10.1.0.0/16', 'x.corp', 443, 'fd00::1'],
    ['registry.corp:5000', 'registry.corp', 22, '10.0.0.9'],
    ['registry.corp:5000', 'evil.registry.corp', 5000, '10.0.0.9'],
    ['registry.corp', 'other.corp', 443, '10.0.0.9'],
  ])('%s does not permit %s:%i at %s', (entry, host, port, address) => {
    expect(permits(entry, host, port, address)).toBe(false);
  });

  it.each([[''], ['10.0.0.0/40'], ['a/b'], ['host:0'], ['host:99999'], ['http://x'], ['a b'], ['user@host']])(
    'refuses the entry "%s", and names it',
    (entry) => {
      expect(() => new AllowList([entry])).toThrow(`"${entry}"`);
    },
  );

  it('knows the names it holds', () => {
    const list = new AllowList(['registry.corp:5000', '10.0.0.1']);
    expect([list.names('registry.corp'), list.names('10.0.0.1'), list.names('x')]).toEqual([true, false, false]);
  });
});
