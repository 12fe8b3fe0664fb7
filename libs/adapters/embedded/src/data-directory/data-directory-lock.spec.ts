import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataDirectoryError, DataDirectoryLock, dataDirectoryFormat } from './data-directory-lock.ts';

describe('DataDirectoryLock', () => {
  let parent: string;
  let directory: string;
  beforeEach(() => {
    parent = mkdtempSync(path.join(tmpdir(), 'data-'));
    directory = path.join(parent, 'deep', 'data');
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  const acquire = () => DataDirectoryLock.acquire(directory);
  const format = () => path.join(directory, 'format');

  it('makes a directory for its owner alone, and writes down its format', () => {
    const held = acquire();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readFileSync(format(), 'utf8')).toBe(`${dataDirectoryFormat}\n`);
    held.release();
  });

  it('makes only files that their owner alone may read', () => {
    const held = acquire();
    for (const name of readdirSync(directory))
      expect(statSync(path.join(directory, name)).mode & 0o777, name).toBe(0o600);
    held.release();
  });

  it('is held by one at a time', () => {
    const held = acquire();
    expect(acquire).toThrow(DataDirectoryError);
    expect(acquire).toThrow(/is used by another process/);
    held.release();
    held.release();
    acquire().release();
  });

  it('is held against another process until that one is killed', async () => {
    const child = holdInChild(directory);
    await once(child.stdout, 'data');
    expect(acquire).toThrow(expect.objectContaining({ code: 'locked' }) as Error);
    child.kill('SIGKILL');
    await once(child, 'exit');
    acquire().release();
  });

  it('refuses a directory of a newer format, and lets it go', () => {
    acquire().release();
    writeFileSync(format(), `${dataDirectoryFormat + 1}\n`);
    for (let n = 0; n < 2; n++) expect(acquire).toThrow(expect.objectContaining({ code: 'newer-format' }) as Error);
    expect(readFileSync(format(), 'utf8')).toBe(`${dataDirectoryFormat + 1}\n`);
  });

  it.each(['', 'one', '0', '1x', '-1'])('refuses a directory whose format file says %j', (text) => {
    acquire().release();
    writeFileSync(format(), text);
    expect(acquire).toThrow(expect.objectContaining({ code: 'unusable' }) as Error);
  });

  it('refuses a path that is no directory', () => {
    writeFileSync(path.join(parent, 'deep'), 'a file');
    expect(acquire).toThrow(expect.objectContaining({ code: 'unusable' }) as Error);
  });

  it('is not disturbed by what a crash at the first start left', () => {
    acquire().release();
    rmSync(format());
    writeFileSync(`${format()}.new`, '');
    acquire().release();
    expect(readFileSync(format(), 'utf8')).toBe(`${dataDirectoryFormat}\n`);
  });
});

function holdInChild(directory: string): ChildProcessWithoutNullStreams {
  const module = new URL('./data-directory-lock.ts', import.meta.url).href;
  const script = `
    const { DataDirectoryLock } = await import(${JSON.stringify(module)});
    globalThis.held = DataDirectoryLock.acquire(${JSON.stringify(directory)});
    console.log('held');
    setInterval(() => {}, 1000);
  `;
  return spawn(process.execPath, ['--input-type=module', '--eval', script]);
}
