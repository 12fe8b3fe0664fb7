import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { journaledExecution } from '@manyhands/core';
import { Fence } from './fence.ts';
import { Journal } from './journal.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'journal-'))));
afterEach(() => rmSync(folder, { recursive: true }));

describe('the journal', () => {
  it('holds what was appended, in its order, and finds it again', async () => {
    const journal = await Journal.create(join(folder, 'journal'));
    const ids = Array.from({ length: 50 }, (_, i) => `sevt_${i}`);
    const places = await Promise.all(ids.map((id) => journal.append({ kind: 'started', id, name: 'bash', at: 1 })));
    const lines = readFileSync(join(folder, 'journal'), 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(ids);
    expect(await journal.read(places[30] as (typeof places)[0])).toMatchObject({ id: 'sevt_30' });
    expect(journaledExecution(lines, 'sevt_30')).toEqual({ state: 'running' });
  });

  it('is made once', async () => {
    await Journal.create(join(folder, 'journal'));
    await expect(Journal.create(join(folder, 'journal'))).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

describe('the fence', () => {
  it('admits rising epochs, and none below the highest', async () => {
    const fence = new Fence(join(folder, 'fence'));
    expect(await fence.admits(3)).toBe(true);
    expect(await fence.admits(3)).toBe(true);
    expect(await fence.admits(2)).toBe(false);
    expect(readFileSync(join(folder, 'fence'), 'utf8')).toBe('3\n');
  });

  it('lets only the highest of those through that come at once', async () => {
    const fence = new Fence(join(folder, 'fence'));
    expect(await Promise.all([fence.admits(4), fence.admits(5)])).toEqual([false, true]);
    expect(readFileSync(join(folder, 'fence'), 'utf8')).toBe('5\n');
  });

  it('holds in memory when the disk does not take it', async () => {
    const fence = new Fence(join(folder, 'missing/fence'));
    expect(await fence.admits(4)).toBe(true);
    expect(await fence.admits(3)).toBe(false);
  });
});
