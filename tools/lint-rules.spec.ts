import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { ESLint, type Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import { beforeAll, describe, expect, it } from 'vitest';

// A rule never seen to fail is not a rule: each has a planted violation here, and the nearest allowed case beside it.

const root = path.join(import.meta.dirname, '..');

// Most rules read syntax alone. Without type information a planted file need not exist on disk.
const untyped: Linter.Config = {
  files: ['**/*.ts'],
  ...(tseslint.configs.disableTypeChecked as Linter.Config),
  languageOptions: { parserOptions: { projectService: false, project: false, program: null } },
};
const syntax = new ESLint({ cwd: root, ignore: false, overrideConfig: [untyped] });
const typed = new ESLint({ cwd: root });

async function reports(eslint: ESLint, file: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath: path.join(root, file) });
  const fatal = result?.messages.find((message) => message.fatal);
  if (!result || fatal) throw new Error(`${file} was not linted: ${fatal?.message ?? 'no result'}`);
  return result.messages.map((message) => message.ruleId ?? 'none');
}

interface Planted {
  rule: string;
  title: string;
  file: string;
  code: string;
  /** The same code where it is allowed. */
  allowedIn?: string[];
}

const use = (name: string) => `import * as used from '${name}';\nexport const x: unknown = used;\n`;

const BOUNDARIES = '@nx/enforce-module-boundaries';
const IMPORTS = 'no-restricted-imports';
const GLOBALS = 'no-restricted-globals';
const PROPERTIES = 'no-restricted-properties';
const SYNTAX = 'no-restricted-syntax';

const layering: Planted[] = [
  {
    rule: BOUNDARIES,
    title: 'protocol imports core',
    file: 'libs/protocol/src/planted.ts',
    code: use('@manyhands/core'),
    allowedIn: ['libs/ports/src/planted.ts', 'libs/runtime/src/planted.ts'],
  },
  {
    rule: BOUNDARIES,
    title: 'core imports a port',
    file: 'libs/core/src/planted.ts',
    code: use('@manyhands/ports'),
    allowedIn: ['libs/runtime/src/planted.ts', 'libs/adapters/blob/src/planted.ts'],
  },
  {
    rule: BOUNDARIES,
    title: 'the runtime imports an adapter',
    file: 'libs/runtime/src/planted.ts',
    code: use('@manyhands/adapter-embedded'),
    allowedIn: ['libs/runtime/src/planted.spec.ts', 'apps/standalone/src/planted.ts'],
  },
  {
    rule: BOUNDARIES,
    title: 'an adapter imports the runtime',
    file: 'libs/adapters/blob/src/planted.ts',
    code: use('@manyhands/runtime'),
    allowedIn: ['libs/http/src/planted.ts'],
  },
  {
    rule: BOUNDARIES,
    title: 'an adapter imports another adapter',
    file: 'libs/adapters/model/src/planted.ts',
    code: use('@manyhands/adapter-scripted-model'),
    allowedIn: ['libs/adapters/model/src/planted.spec.ts', 'apps/standalone/src/planted.ts'],
  },
  {
    rule: BOUNDARIES,
    title: 'the embedded adapter imports platform',
    file: 'libs/adapters/embedded/src/planted.ts',
    code: use('@manyhands/platform'),
    allowedIn: ['libs/adapters/blob/src/planted.ts'],
  },
  {
    rule: BOUNDARIES,
    title: 'HTTP imports an adapter',
    file: 'libs/http/src/planted.ts',
    code: use('@manyhands/adapter-model'),
    allowedIn: ['test/e2e/planted.ts'],
  },
  {
    rule: BOUNDARIES,
    title: 'a workspace is reached by a relative path',
    file: 'libs/core/src/planted.ts',
    code: use('../../protocol/src/index.ts'),
  },
  {
    rule: BOUNDARIES,
    title: 'core imports an npm package',
    file: 'libs/core/src/planted.ts',
    code: use('zod'),
    allowedIn: ['libs/protocol/src/planted.ts'],
  },
  {
    rule: BOUNDARIES,
    title: 'a port imports vitest outside its test kit',
    file: 'libs/ports/src/planted.ts',
    code: use('vitest'),
    allowedIn: ['libs/ports/src/testing/planted.ts', 'libs/ports/src/planted.spec.ts'],
  },
  {
    rule: BOUNDARIES,
    title: 'a package is imported that no package.json names',
    file: 'libs/adapters/embedded/src/planted.ts',
    code: use('pino-std-serializers'),
  },
  {
    rule: 'import-x/no-cycle',
    title: 'two files import each other',
    file: 'tools/planted/cycle/a.ts',
    code: "import { b } from './b.ts';\n\nexport const a = (): number => b();\n",
  },
];

const vendors: Planted[] = [
  ['kafkajs', 'libs/runtime/src/planted.ts'],
  ['kafkajs', 'apps/standalone/src/planted.ts'],
  ['ioredis', 'apps/standalone/src/planted.ts'],
  ['@kubernetes/client-node', 'libs/adapters/hand/src/planted.ts'],
  ['@nestjs/microservices', 'apps/standalone/src/planted.ts'],
  ['@nestjs/microservices', 'libs/http/src/planted.ts'],
  ['@nestjs/common', 'libs/runtime/src/planted.ts', 'libs/http/src/planted.ts', 'apps/standalone/src/planted.ts'],
  ['@nestjs/common', 'apps/hand/src/planted.ts'],
  ['fastify', 'libs/adapters/blob/src/planted.ts', 'libs/http/src/planted.ts'],
  ['pino', 'libs/adapters/blob/src/planted.ts', 'libs/platform/src/planted.ts'],
  ['@opentelemetry/api', 'libs/http/src/planted.ts', 'libs/platform/src/planted.ts'],
  ['@anthropic-ai/sdk', 'libs/http/src/planted.ts', 'libs/adapters/model/src/planted.ts'],
  ['@anthropic-ai/sdk/resources', 'libs/protocol/src/planted.ts', 'libs/protocol/src/planted.spec.ts'],
  ['ipaddr.js', 'libs/adapters/hand/src/planted.ts', 'libs/adapters/egress/src/planted.ts'],
  ['html-to-text', 'apps/hand/src/planted.ts', 'libs/adapters/egress/src/planted.ts'],
  ['undici', 'libs/runtime/src/planted.ts', 'libs/adapters/egress/src/planted.ts'],
].map(([name = '', file = '', ...allowedIn]) => ({
  rule: IMPORTS,
  title: `${name} in ${path.dirname(path.dirname(file))}`,
  file,
  code: use(name),
  allowedIn,
}));

const clock = ['Date.now()', 'performance.now()', 'Math.random()', 'AbortSignal.timeout(5)'].map(
  (expression) => [PROPERTIES, expression] as const,
);
const now = ['new Date()', 'Date()'].map((expression) => [SYNTAX, expression] as const);
const timers = ['setTimeout(f, 5)', 'setInterval(f, 5)', 'setImmediate(f)', "fetch('http://a')", 'performance'].map(
  (expression) => [GLOBALS, expression] as const,
);
const world = ['process.pid', 'crypto.randomUUID()', "console.log('x')", 'globalThis.x', 'queueMicrotask(f)'].map(
  (expression) => [GLOBALS, expression] as const,
);

const purity: Planted[] = ['protocol', 'core', 'ports', 'runtime'].flatMap((lib) => [
  ...[...clock, ...now, ...timers, ...(lib === 'runtime' ? [] : world)].map(([rule, expression]) => ({
    rule,
    title: `${expression} in ${lib}`,
    file: `libs/${lib}/src/planted.ts`,
    code: `export const x = (f: () => void): unknown => ${expression};\n`,
    allowedIn: [`libs/${lib}/src/planted.spec.ts`, 'libs/adapters/embedded/src/planted.ts'],
  })),
  ...(lib !== 'runtime'
    ? ['node:fs', 'fs/promises', 'node:sqlite'].map((name) => ({
        rule: IMPORTS,
        title: `${name} in ${lib}`,
        file: `libs/${lib}/src/planted.ts`,
        code: use(name),
        allowedIn: [`libs/${lib}/src/planted.spec.ts`, 'libs/runtime/src/planted.ts'],
      }))
    : []),
]);

const others: Planted[] = [
  ...['node:net', 'node:timers/promises', 'child_process'].map((name) => ({
    rule: IMPORTS,
    title: `${name} in the runtime`,
    file: 'libs/runtime/src/planted.ts',
    code: use(name),
    allowedIn: ['libs/adapters/embedded/src/planted.ts'],
  })),
  {
    rule: SYNTAX,
    title: 'an asynchronous function in the core',
    file: 'libs/core/src/planted.ts',
    code: 'export async function x(): Promise<void> {}\n',
    allowedIn: ['libs/runtime/src/planted.ts'],
  },
  {
    rule: SYNTAX,
    title: 'a dynamic import in the core',
    file: 'libs/core/src/planted.ts',
    code: "export const x = (): unknown => import('./index.ts');\n",
  },
  ...['libs/runtime', 'libs/adapters/blob', 'apps/hand'].map((folder) => ({
    rule: PROPERTIES,
    title: `the environment is read in ${folder}`,
    file: `${folder}/src/planted.ts`,
    code: 'export const x = process.env;\n',
    allowedIn: ['apps/hand/src/config.ts', 'libs/runtime/src/planted.spec.ts', 'test/e2e/planted.ts'],
  })),
  {
    rule: 'eqeqeq',
    title: 'loose equality',
    file: 'libs/core/src/planted.ts',
    code: 'export const x = (a: number) => a == 1;\n',
  },
];

// These need types, hence files that exist; their text is replaced.
const withTypes: Planted[] = [
  {
    rule: '@typescript-eslint/no-floating-promises',
    title: 'a promise is left alone',
    file: 'libs/runtime/src/index.ts',
    code: 'const later = async (): Promise<void> => {};\nlater();\n',
  },
  {
    rule: '@typescript-eslint/no-misused-promises',
    title: 'a promise is taken for a boolean',
    file: 'libs/runtime/src/index.ts',
    code: 'const later = async (): Promise<boolean> => false;\nexport const x = (): number => (later() ? 1 : 2);\n',
  },
  {
    rule: '@typescript-eslint/switch-exhaustiveness-check',
    title: 'a switch forgets a case',
    file: 'libs/core/src/index.ts',
    code: "export function x(a: 'b' | 'c'): void {\n  switch (a) {\n    case 'b':\n      return;\n  }\n}\n",
  },
  {
    rule: '@typescript-eslint/return-await',
    title: 'a promise leaves its try block unawaited',
    file: 'libs/runtime/src/index.ts',
    code: 'export async function x(later: () => Promise<void>): Promise<void> {\n  try {\n    return later();\n  } catch {\n    return;\n  }\n}\n',
  },
];

beforeAll(() => {
  // The boundary rule reads Nx's cached project graph and is silently skipped without one.
  execFileSync('node_modules/.bin/nx', ['show', 'projects'], { cwd: root, stdio: 'pipe' });
});

describe('lint', () => {
  it.each([...layering, ...vendors, ...purity, ...others])(
    'reports: $title ($rule)',
    async ({ rule, file, code, allowedIn = [] }) => {
      expect(await reports(syntax, file, code)).toContain(rule);
      for (const allowed of allowedIn) expect(await reports(syntax, allowed, code), allowed).not.toContain(rule);
    },
  );

  it.each(withTypes)('reports: $title ($rule)', async ({ rule, file, code }) => {
    expect(await reports(typed, file, code)).toContain(rule);
  });

  it('leaves pure uses of Date alone in the core', async () => {
    const code = 'export const x = (at: string): string => new Date(Date.parse(at)).toISOString();\n';
    expect(await reports(syntax, 'libs/core/src/planted.ts', code)).toEqual([]);
  });
});
