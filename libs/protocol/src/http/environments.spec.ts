import { describe, expect, it } from 'vitest';

import { createEnvironmentBodySchema } from './environments.ts';
import { parseRequest } from './parse-request.ts';

const cloud = (config: object) => ({ name: 'box', config: { type: 'cloud', ...config } });
const host = 'must be a host name or *.host name, without scheme, port or path';

describe('creating an environment', () => {
  it.each([
    ['no name', {}, 'name: Field required'],
    ['another kind', { name: 'box', config: { type: 'moon' } }, "config.type: must be 'cloud' or 'self_hosted'"],
    [
      'an account of its own',
      { name: 'box', scope: 'account' },
      "scope: 'account' is not supported; use 'organization'",
    ],
    [
      'a host with a scheme',
      cloud({ networking: { type: 'limited', allowed_hosts: ['https://a.com'] } }),
      `config.networking.allowed_hosts.0: ${host}`,
    ],
    [
      'a host with a port',
      cloud({ networking: { type: 'limited', allowed_hosts: ['a.com:80'] } }),
      `config.networking.allowed_hosts.0: ${host}`,
    ],
    [
      'hosts of an open network',
      cloud({ networking: { type: 'unrestricted', allowed_hosts: [] } }),
      'config.networking.allowed_hosts: Extra inputs are not permitted',
    ],
    [
      'a package that is an option',
      cloud({ packages: { pip: ['--index-url=http://x'] } }),
      'config.packages.pip.0: must be a package with its version, without spaces or leading hyphen',
    ],
    [
      'packages behind a closed network',
      cloud({ networking: { type: 'limited' }, packages: { npm: ['express'] } }),
      'config.networking.allow_package_managers: must be true when packages are given in a limited network',
    ],
  ])('refuses %s', (_, body, message) => {
    expect(parseRequest(createEnvironmentBodySchema, body)).toEqual({
      ok: false,
      refusal: { code: 'invalid_request', message },
    });
  });

  it.each([
    { name: 'box' },
    { name: 'box', config: null, description: '', scope: 'organization' },
    cloud({
      networking: { type: 'limited', allowed_hosts: ['*.example.com', 'registry'], allow_package_managers: true },
      packages: { pip: ['sqlalchemy==2.0.30'], go: ['golang.org/x/tools@latest'], npm: ['@scope/a@1'] },
    }),
    { name: 'box', config: { type: 'self_hosted' } },
  ])('accepts %j', (body) => {
    expect(parseRequest(createEnvironmentBodySchema, body)).toEqual({ ok: true, value: body });
  });
});
