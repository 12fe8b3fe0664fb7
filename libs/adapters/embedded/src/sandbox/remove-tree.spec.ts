import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from './remove-tree.ts';

/** No path to the innermost one is taken by the kernel. Each directory has another beside it, and a file. */
function nest(directory: string, depth: number): void {
  const script = `
    const { mkdirSync, writeFileSync } = require('node:fs');
    for (let at = 0; at < ${depth}; at++) {
      mkdirSync('a');
      writeFileSync('a/file', '');
      mkdirSync('directory');
      process.chdir('directory');
    }`;
  execFileSync(process.execPath, ['-e', script], { cwd: directory });
}

describe('removing a tree', () => {
  let place: string;
  let tree: string;

  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), 'tree-'));
    tree = join(place, 'tree');
    mkdirSync(tree);
  });
  afterEach(() => rmSync(place, { recursive: true, force: true }));

  it('has nothing against one that is not there', async () => {
    await removeTree(join(place, 'none'));
    await removeTree(join(place, 'none', 'deeper'));
  });

  it('takes a file or a link for what it is', async () => {
    writeFileSync(join(place, 'file'), '');
    symlinkSync(tree, join(place, 'link'));
    await removeTree(join(place, 'link'));
    await removeTree(join(place, 'file'));
    expect([existsSync(tree), existsSync(join(place, 'file'))]).toEqual([true, false]);
  });

  it('removes what is deeper than a path can say', { timeout: 30_000 }, async () => {
    nest(tree, 3_000);
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });

  it('removes many files, names that are no text, and what is no file', async () => {
    const script =
      'cd "$1"; for i in $(seq 500); do : > "$i"; done; mkdir "$(printf "\\377d")"; touch "$(printf "\\377d/\\376")"; mkfifo pipe';
    execFileSync('/bin/sh', ['-c', script, 'fill', tree]);
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });

  it('follows no link', async () => {
    const outside = join(place, 'outside');
    mkdirSync(outside, { mode: 0o500 });
    writeFileSync(join(place, 'precious'), 'precious');
    mkdirSync(join(tree, 'a'));
    symlinkSync(outside, join(tree, 'a', 'out'));
    symlinkSync(join(place, 'precious'), join(tree, 'a', 'file'));
    symlinkSync('..', join(tree, 'a', 'up'));
    symlinkSync('/', join(tree, 'all'));
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
    expect(existsSync(outside)).toBe(true);
    expect(readFileSync(join(place, 'precious'), 'utf8')).toBe('precious');
  });

  it('removes directories that deny themselves', async () => {
    mkdirSync(join(tree, 'a/b/c/d'), { recursive: true });
    for (const inner of ['a/b/c/d', 'a/b/c', 'a/b', 'a', '']) chmodSync(join(tree, inner), 0o000);
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });

  it('lets several remove the same', async () => {
    nest(tree, 300);
    await Promise.all([removeTree(tree), removeTree(tree), removeTree(tree)]);
    expect(existsSync(tree)).toBe(false);
  });

  it.runIf(process.geteuid?.() === 0)('does so as an ordinary user', { timeout: 30_000 }, async () => {
    nest(tree, 3_000);
    const nobody = 65_534;
    execFileSync('/bin/sh', ['-c', 'chmod 000 directory/directory directory', 'deny'], { cwd: tree });
    execFileSync('/bin/chown', ['-R', String(nobody), tree]);
    chownSync(place, nobody, nobody);
    const script = `import { removeTree } from ${JSON.stringify(join(import.meta.dirname, 'remove-tree.ts'))}; await removeTree(${JSON.stringify(tree)});`;
    const inherited = ['--conditions=@manyhands/source', '--input-type=module', '-e', script];
    execFileSync(process.execPath, inherited, { uid: nobody, cwd: import.meta.dirname });
    expect(existsSync(tree)).toBe(false);
  });
});
