// Builds the hand's daemon into one file that runs on a bare Node: it is copied into sandboxes that have nothing else.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const app = path.join(import.meta.dirname, '..', 'apps', 'hand');
const outfile = path.join(app, 'dist', 'hand.mjs');

const { outputFiles } = await build({
  entryPoints: [path.join(app, 'src', 'main.ts')],
  outfile,
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  conditions: ['@manyhands/source'],
  // CommonJS packages in the bundle ask for Node's own modules with require, which an ES module does not have.
  banner: {
    js: "import { createRequire as bundleRequire } from 'node:module'; const require = bundleRequire(import.meta.url);",
  },
  logLevel: 'warning',
});

// Renamed into place, so that a hand started meanwhile reads the old file or the new one.
mkdirSync(path.dirname(outfile), { recursive: true });
const draft = `${outfile}.${process.pid}`;
writeFileSync(draft, outputFiles[0].contents);
renameSync(draft, outfile);
