// The rules that keep the layers apart. Every one of them has a planted violation in tools/lint-rules.spec.ts.
// Run through Nx: without a project graph the boundary rule is skipped with a warning only.
import { globSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import nx from '@nx/eslint-plugin';
import prettier from 'eslint-config-prettier/flat';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import importX from 'eslint-plugin-import-x';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const SPECS = '**/*.spec.ts';

// ---- layers: who may import which workspace, and which npm packages (undefined: see the vendors below) ----

const layer = (name, dependsOn, npm) => ({
  sourceTag: `layer:${name}`,
  onlyDependOnLibsWithTags: dependsOn.map((other) => `layer:${other}`),
  ...(npm && { allowedExternalImports: npm }),
});

const layers = [
  layer('protocol', [], ['zod']),
  layer('core', ['protocol'], []),
  layer('ports', ['core', 'protocol'], []),
  layer('runtime', ['ports', 'core', 'protocol'], []),
  layer('platform', ['ports', 'protocol'], ['pino', 'prom-client', '@opentelemetry/*', 'zod']),
  layer('embedded', ['ports', 'core', 'protocol']),
  layer('adapter', ['platform', 'ports', 'core', 'protocol']),
  layer('http', ['platform', 'runtime', 'ports', 'core', 'protocol']),
  layer('app', ['http', 'adapter', 'embedded', 'platform', 'runtime', 'ports', 'core', 'protocol']),
  layer('test', ['app', 'http', 'adapter', 'embedded', 'platform', 'runtime', 'ports', 'core', 'protocol']),
  layer('tools', []),
];

// The embedded adapter is the test double of the layers above the ports, and adapters meet each other in specs.
const alsoInSpecs = { runtime: ['embedded'], http: ['embedded'], adapter: ['embedded', 'adapter'] };
const specLayers = layers.map((rule) => ({
  ...rule,
  onlyDependOnLibsWithTags: [
    ...rule.onlyDependOnLibsWithTags,
    ...(alsoInSpecs[rule.sourceTag.slice('layer:'.length)] ?? []).map((other) => `layer:${other}`),
  ],
  allowedExternalImports: ['*'],
}));
const testKitLayers = layers.map((rule) => ({
  ...rule,
  ...(rule.allowedExternalImports && {
    allowedExternalImports: [...rule.allowedExternalImports, 'vitest', 'fast-check'],
  }),
}));

const boundaries = (depConstraints) => [
  'error',
  { banTransitiveDependencies: true, enforceBuildableLibDependency: false, allow: [], depConstraints },
];

// ---- vendors: each package is imported in its own places alone ----

const vendors = [
  { packages: ['kafkajs'], homes: ['libs/adapters/kafka'] },
  { packages: ['ioredis', 'redis'], homes: ['libs/adapters/redis'] },
  { packages: ['@kubernetes/client-node'], homes: ['libs/adapters/kubernetes'] },
  {
    packages: ['@anthropic-ai/sdk'],
    homes: ['libs/adapters/model', 'apps/hand', 'test'],
    specs: ['libs/protocol', 'libs/adapters/scripted-model'],
  },
  { packages: ['@nestjs/microservices'], homes: [] },
  {
    packages: ['@nestjs/[^/]+', 'fastify', 'rxjs', 'reflect-metadata'],
    homes: ['libs/http', 'apps/(?!hand$).*'],
    specs: ['test'],
  },
  { packages: ['pino', 'prom-client', '@opentelemetry/[^/]+'], homes: ['libs/platform', 'apps/(?!hand$).*'] },
  { packages: ['ipaddr.js', 'html-to-text'], homes: ['libs/adapters/egress'] },
  { packages: ['undici'], homes: ['libs/adapters/.*', 'apps/.*', 'test'] },
];

const matches = (folder, places = []) => places.some((place) => new RegExp(`^(?:${place})$`).test(folder));

const vendorBans = (folder, { spec }) =>
  vendors
    .filter(({ homes, specs }) => !matches(folder, homes) && !(spec && matches(folder, specs)))
    .map(({ packages, homes }) => ({
      regex: `^(?:${packages.join('|')})(?:/|$)`,
      message: homes.length ? `Imported in ${homes.join(', ')} alone.` : 'Not used in this repository.',
    }));

const builtins = (names) => `^(?:node:)?(?:${names.join('|')})(?:/|$)`;
const noBuiltins = { regex: `^node:|${builtins(builtinModules)}`, message: 'This layer is pure: no Node modules.' };
const noNetOrTimers = {
  regex: builtins([
    'child_process',
    'cluster',
    'dgram',
    'dns',
    'http',
    'http2',
    'https',
    'net',
    'perf_hooks',
    'timers',
    'tls',
  ]),
  message: 'The runtime reaches the world through ports.',
};

// ---- purity ----

const banned = (names, message) => names.map((name) => ({ name, message }));
const timers = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'];
const world = [
  'process',
  'performance',
  'fetch',
  'crypto',
  'console',
  'navigator',
  'globalThis',
  'global',
  'WebSocket',
  'EventSource',
  'BroadcastChannel',
  'queueMicrotask',
];

const noEnv = {
  object: 'process',
  property: 'env',
  message: 'config.ts of the app is the only reader of the environment.',
};
const clockAndChance = (message) => [
  { object: 'Date', property: 'now', message },
  { object: 'Math', property: 'random', message },
  { object: 'performance', property: 'now', message },
  { object: 'AbortSignal', property: 'timeout', message },
];
const clockSyntax = (message) => [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message },
  { selector: 'CallExpression[callee.name="Date"]', message },
];

const PURE = 'This layer is pure: time, ids and chance are arguments.';
const CLOCK = 'The runtime takes time and chance from its ports, so that the simulation can own them.';
const pure = {
  'no-restricted-globals': ['error', ...banned([...timers, ...world], PURE)],
  'no-restricted-properties': ['error', ...clockAndChance(PURE)],
  'no-restricted-syntax': ['error', ...clockSyntax(PURE), { selector: 'ImportExpression', message: PURE }],
};

const purity = [
  // Ports compile with Node's types for the sake of AbortSignal; the rest of Node is none of theirs.
  { files: ['libs/protocol/src/**/*.ts', 'libs/ports/src/**/*.ts'], rules: pure },
  {
    files: ['libs/core/src/**/*.ts'],
    rules: {
      ...pure,
      'no-restricted-syntax': [
        ...pure['no-restricted-syntax'],
        { selector: ':function[async=true]', message: 'The core is synchronous: effects are values.' },
      ],
    },
  },
  {
    files: ['libs/runtime/src/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...banned([...timers, 'performance', 'fetch'], CLOCK)],
      'no-restricted-properties': ['error', ...clockAndChance(CLOCK), noEnv],
      'no-restricted-syntax': ['error', ...clockSyntax(CLOCK)],
    },
  },
].map((block) => ({ ...block, ignores: [SPECS, 'libs/*/src/testing/**'] }));

// ---- one block of import bans per workspace, one more for its specs ----

const folders = globSync(['apps/*', 'libs/*', 'libs/adapters/*', 'test', 'tools'], { cwd: import.meta.dirname })
  .filter((folder) => folder !== path.join('libs', 'adapters'))
  .map((folder) => folder.split(path.sep).join('/'));

const layerBans = (folder) => {
  if (folder === 'libs/protocol' || folder === 'libs/core' || folder === 'libs/ports') return [noBuiltins];
  return folder === 'libs/runtime' ? [noNetOrTimers] : [];
};

const imports = folders.flatMap((folder) => {
  const kits = [`${folder}/**/*.spec.ts`, `${folder}/src/testing/**/*.ts`];
  const patterns = [...vendorBans(folder, { spec: false }), ...layerBans(folder)];
  return [
    { files: [`${folder}/**/*.ts`], ignores: kits, rules: { 'no-restricted-imports': ['error', { patterns }] } },
    {
      files: kits,
      rules: { 'no-restricted-imports': ['error', { patterns: vendorBans(folder, { spec: true }) }] },
    },
  ];
});

export default defineConfig(
  globalIgnores(['**/dist/**', '**/node_modules/**', '.nx/**', 'coverage/**', 'tmp/**', 'tools/planted/**']),
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { '@nx': nx, 'import-x': importX },
    settings: {
      'import-x/resolver-next': [
        createTypeScriptImportResolver({
          conditionNames: ['@manyhands/source', 'types', 'import', 'node', 'default'],
        }),
      ],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
      'import-x/extensions': ['.ts'],
    },
    rules: {
      '@nx/enforce-module-boundaries': boundaries(layers),
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // Ports are asynchronous even where an implementation has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  { files: [SPECS], rules: { '@nx/enforce-module-boundaries': boundaries(specLayers) } },
  {
    files: ['libs/ports/src/testing/**/*.ts', 'libs/protocol/src/testing/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': boundaries(testKitLayers) },
  },
  {
    files: ['libs/**/*.ts', 'apps/**/*.ts'],
    ignores: [SPECS, 'apps/*/src/config.ts'],
    rules: { 'no-restricted-properties': ['error', noEnv] },
  },
  imports,
  purity,
  prettier,
);
