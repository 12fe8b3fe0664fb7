import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HandConfig } from '@manyhands/core';
import { FileTools } from './file-tools.ts';
import type { FileToolName } from './tool-input.ts';

let folder: string;
let tools: FileTools;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'files-'));
  for (const name of ['workspace', 'uploads', 'elsewhere']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'uploads/given'), 'given');
  writeFileSync(join(folder, 'elsewhere/secret'), 'secret');
  const roots = [join(folder, 'uploads')];
  tools = new FileTools({ workspace: join(folder, 'workspace'), roots, readOnlyRoots: roots } as HandConfig);
});
afterEach(() => rmSync(folder, { recursive: true }));

async function run(name: FileToolName, input: Record<string, unknown>, signal = new AbortController().signal) {
  const { isError, content } = await tools.run(name, input, signal);
  return [isError, content[0]?.type === 'text' ? content[0].text : content[0]?.type];
}

describe('the file tools', () => {
  it('write, read, edit, find and search', async () => {
    expect(await run('write', { file_path: 'a/b.txt', content: 'one\ntwo\nthree' })).toEqual([
      false,
      'wrote 13 bytes to a/b.txt',
    ]);
    expect(await run('read', { file_path: 'a/b.txt', view_range: [2, 2] })).toEqual([false, 'two']);
    expect(await run('edit', { file_path: 'a/b.txt', old_string: 'two', new_string: '2' })).toEqual([
      false,
      'edited a/b.txt (1 replacement(s))',
    ]);
    expect(await run('read', { file_path: join(folder, 'workspace/a/b.txt') })).toEqual([false, 'one\n2\nthree']);
    expect(await run('glob', { pattern: '**/*.txt' })).toEqual([false, join(folder, 'workspace/a/b.txt')]);
    expect(await run('grep', { pattern: '^th' })).toEqual([false, expect.stringMatching(/b\.txt:3:three\n?$/)]);
    expect(await run('grep', { pattern: 'nowhere' })).toEqual([false, 'no matches']);
  });

  it('tell what is wrong', async () => {
    expect(await run('read', { file_path: 'missing' })).toEqual([true, 'read: missing: no such file or directory']);
    await run('write', { file_path: 'f', content: 'a a' });
    expect(await run('edit', { file_path: 'f', old_string: 'a', new_string: 'b' })).toEqual([
      true,
      'edit: old_string appears 2 times in f (must be unique)',
    ]);
    expect(await run('edit', { file_path: 'f', old_string: 'z', new_string: 'b' })).toEqual([
      true,
      'edit: old_string not found in f',
    ]);
  });

  it('stay where they belong', async () => {
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'workspace/link'));
    for (const file_path of [join(folder, 'elsewhere/secret'), '../elsewhere/secret', 'link/secret'])
      expect(await run('read', { file_path })).toEqual([true, expect.stringContaining('is outside')]);
    expect(await run('write', { file_path: 'link/new', content: '' })).toEqual([
      true,
      expect.stringContaining('is outside'),
    ]);
    expect(await run('read', { file_path: join(folder, 'uploads/given') })).toEqual([false, 'given']);
    expect(await run('write', { file_path: join(folder, 'uploads/given'), content: '' })).toEqual([
      true,
      expect.stringContaining('read-only'),
    ]);
    expect(readFileSync(join(folder, 'uploads/given'), 'utf8')).toBe('given');
  });

  it('show images as images, and what only has their name as text', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex');
    writeFileSync(join(folder, 'workspace/real.png'), png);
    writeFileSync(join(folder, 'workspace/false.png'), 'text');
    const { content } = await tools.run('read', { file_path: 'real.png' }, new AbortController().signal);
    expect(content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
    ]);
    expect(await run('read', { file_path: 'false.png' })).toEqual([false, 'text']);
    expect(await run('read', { file_path: 'missing.png' })).toEqual([
      true,
      'read: missing.png: no such file or directory',
    ]);
  });

  it('say so when they were cancelled', async () => {
    const cancel = new AbortController();
    cancel.abort('cancelled');
    expect(await run('grep', { pattern: 'x' }, cancel.signal)).toEqual([true, 'grep: cancelled']);
    expect(await run('write', { file_path: 'f', content: '' }, cancel.signal)).toEqual([
      true,
      'write: cancelled; the file may have been changed',
    ]);
  });
});
