import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defaultServerConditions } from 'vite';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const root = import.meta.dirname;

// Workspaces are tested from their sources: no dist is needed, and none can be stale.
const ssr = { resolve: { conditions: ['@manyhands/source', ...defaultServerConditions] } };

function project(
  name: string,
  folder: string,
  include: string[],
  test: TestProjectInlineConfiguration['test'] = {},
): TestProjectInlineConfiguration {
  return { root: path.join(root, folder), ssr, test: { name, include, ...test } };
}

function workspaces(): TestProjectInlineConfiguration[] {
  const manifests = globSync('{apps/*,libs/*,libs/adapters/*}/package.json', { cwd: root }).sort();
  return manifests.map((manifest) => {
    const { name } = JSON.parse(readFileSync(path.join(root, manifest), 'utf8')) as { name: string };
    return project(name, path.dirname(manifest), ['src/**/*.spec.ts'], {
      exclude: [...configDefaults.exclude, 'src/**/*.int.spec.ts'],
    });
  });
}

const long = process.env['MANYHANDS_LONG'] === '1';
const minute = 60_000;
const realParts = { testTimeout: long ? 30 * minute : 2 * minute, hookTimeout: 2 * minute };

// With a folder named here each run leaves a JSON report in it, for tools/sum-reports.mjs.
const reports = process.env['MANYHANDS_TEST_REPORTS'];

export default defineConfig({
  test: {
    reporters: reports
      ? ['default', ['json', { outputFile: path.join(root, reports, `${String(process.pid)}.json`) }]]
      : ['default'],
    projects: [
      ...workspaces(),
      project('@manyhands/tools', 'tools', ['*.spec.ts'], { testTimeout: 2 * minute, hookTimeout: 2 * minute }),
      project('integration', '.', ['{apps,libs}/**/src/**/*.int.spec.ts'], realParts),
      project('simulation', 'test', ['simulation/*.sim.spec.ts'], { testTimeout: long ? 60 * minute : minute }),
      project('e2e', 'test', ['e2e/*.e2e.spec.ts'], realParts),
      project('chaos', 'test', ['chaos/*.chaos.spec.ts'], { ...realParts, fileParallelism: false }),
    ],
  },
});
