import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = path.join(import.meta.dirname, 'sum-reports.mjs');

const file = (status: string, ...tests: string[]) => ({ status, assertionResults: tests.map((t) => ({ status: t })) });

describe('sum-reports', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'reports-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const report = (name: string, ...testResults: unknown[]) => {
    writeFileSync(path.join(folder, `${name}.json`), JSON.stringify({ testResults }));
  };
  const lastLine = (exitCode: string) =>
    execFileSync(process.execPath, [script, folder, exitCode], { encoding: 'utf8' }).trim().split('\n').at(-1);

  it('adds up the tests of all runs', () => {
    report('1', file('passed', 'passed', 'passed', 'pending'), file('failed', 'failed', 'passed'));
    report('2', file('passed', 'passed', 'todo', 'skipped'));
    expect(lastLine('1')).toBe('4 passed, 1 failed, 3 skipped');
  });

  it('counts a file that did not load as a failure', () => {
    report('1', file('passed', 'passed'), file('failed'));
    expect(lastLine('1')).toBe('1 passed, 1 failed, 0 skipped');
  });

  it('does not call a run clean whose failure was no test', () => {
    report('1', file('passed', 'passed'));
    expect(lastLine('1')).toBe('1 passed, 1 failed, 0 skipped');
  });

  it('reports nothing when nothing ran', () => {
    expect(lastLine('0')).toBe('0 passed, 0 failed, 0 skipped');
  });
});
