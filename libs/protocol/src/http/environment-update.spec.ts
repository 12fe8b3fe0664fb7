import { describe, expect, it } from 'vitest';

import { resolveEnvironment, updateEnvironment } from './environment-update.ts';
import { createEnvironmentBodySchema, updateEnvironmentBodySchema, type EnvironmentSettings } from './environments.ts';

const stored = (body: object) => resolveEnvironment(createEnvironmentBodySchema.parse({ name: 'box', ...body }));
const update = (environment: EnvironmentSettings, body: object) =>
  updateEnvironment(environment, updateEnvironmentBodySchema.parse(body));

const packages = { type: 'packages', apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] };
const unrestricted = { type: 'cloud', networking: { type: 'unrestricted' }, packages };

describe('creating an environment', () => {
  it.each([
    ['no config', {}, unrestricted],
    ['a null config', { config: null }, unrestricted],
    ['a bare cloud config', { config: { type: 'cloud', networking: null, packages: null } }, unrestricted],
    [
      'a limited network',
      { config: { type: 'cloud', networking: { type: 'limited', allowed_hosts: ['a.com'] }, packages: { pip: null } } },
      {
        ...unrestricted,
        networking: {
          type: 'limited',
          allowed_hosts: ['a.com'],
          allow_mcp_servers: false,
          allow_package_managers: false,
        },
      },
    ],
    ['a self-hosted one', { config: { type: 'self_hosted' } }, { type: 'self_hosted' }],
  ])('resolves %s', (_, body, config) => {
    expect(stored(body)).toEqual({ name: 'box', description: null, config, metadata: {}, scope: 'organization' });
  });
});

describe('updating an environment', () => {
  const limited = { type: 'limited', allowed_hosts: ['a.com'], allow_mcp_servers: true, allow_package_managers: true };
  const config = { type: 'cloud', networking: limited, packages: { ...packages, pip: ['numpy'], npm: ['express'] } };
  const full = stored({ description: 'd', config, metadata: { a: '1', b: '2', c: '3' } });
  const withConfig = (changes: object) => ({ config: { ...config, ...changes } });

  it.each([
    ['nothing', {}, {}],
    ['a name', { name: 'bag' }, { name: 'bag' }],
    ['no name', { name: null, scope: null }, {}],
    ['the description with null', { description: null }, { description: null }],
    ['the description with nothing', { description: '' }, { description: '' }],
    [
      'metadata: null and "" delete',
      { metadata: { a: null, b: '', c: '4', d: '5' } },
      { metadata: { c: '4', d: '5' } },
    ],
    ['a bare config: nothing', { config: { type: 'cloud' } }, {}],
    ['a null config: the default', { config: null }, { config: unrestricted }],
    [
      'networking with null',
      { config: { type: 'cloud', networking: null } },
      withConfig({ networking: { type: 'unrestricted' } }),
    ],
    [
      'one field of the network',
      { config: { type: 'cloud', networking: { type: 'limited', allowed_hosts: null } } },
      withConfig({ networking: { ...limited, allowed_hosts: [] } }),
    ],
    [
      'one list of packages',
      { config: { type: 'cloud', packages: { pip: [] } } },
      withConfig({ packages: { ...packages, npm: ['express'] } }),
    ],
    ['packages with null', { config: { type: 'cloud', packages: null } }, withConfig({ packages })],
  ])('changes %s', (_, body, changes) => {
    const changed = Object.keys(changes).length > 0;
    expect(update(full, body)).toEqual({ ok: true, value: { ...full, ...changes }, changed });
  });

  it('starts from a closed network when it was open', () => {
    expect(update(stored({}), { config: { type: 'cloud', networking: { type: 'limited' } } })).toMatchObject({
      value: { config: { networking: { allowed_hosts: [], allow_mcp_servers: false, allow_package_managers: false } } },
    });
  });

  it.each([
    [
      'another type',
      { config: { type: 'self_hosted' } },
      { code: 'invalid_config_type_change', message: "config.type: cannot change from 'cloud' to 'self_hosted'" },
    ],
    [
      'closing the registries under packages',
      { config: { type: 'cloud', networking: { type: 'limited', allow_package_managers: null } } },
      {
        code: 'invalid_request',
        message: 'config.networking.allow_package_managers: must be true when packages are given in a limited network',
      },
    ],
    [
      'too much metadata in all',
      { metadata: Object.fromEntries(Array.from({ length: 14 }, (_, i) => [`k${i}`, 'v'])) },
      { code: 'invalid_metadata', message: 'metadata: must have at most 16 pairs, got 17' },
    ],
  ])('refuses %s', (_, body, refusal) => {
    expect(update(full, body)).toEqual({ ok: false, refusal });
  });
});
