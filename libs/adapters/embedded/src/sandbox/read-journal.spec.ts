import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJournal } from './read-journal.ts';

const id = 'sevt_011CZkZ4vZtQ9N8';
const unknown = { state: 'unknown' };
const content = [{ type: 'text', text: 'done' }];

describe('the journal of a dead hand', () => {
  let directory: string;
  let path: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'journal-'));
    path = join(directory, 'journal');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const line = (fields: object): string => `${JSON.stringify({ id, at: 1_800_000_000_000, ...fields })}\n`;
  const started = line({ kind: 'started', name: 'bash' });
  const finished = (of: unknown): string => line({ kind: 'finished', isError: false, content: of });

  it('says what was started and what finished', async () => {
    writeFileSync(path, started);
    expect(await readJournal(path, id)).toEqual({ state: 'running' });
    writeFileSync(path, started + finished(content));
    expect(await readJournal(path, id)).toEqual({ state: 'finished', isError: false, content });
    expect(await readJournal(path, 'sevt_other')).toEqual(unknown);
  });

  it('gives results that a turn can bear, and no others', async () => {
    const long = [{ type: 'text', text: 'x'.repeat(5_000_000) }];
    writeFileSync(path, finished(long));
    expect(JSON.stringify(await readJournal(path, id)).length).toBeLessThan(25_000);
    writeFileSync(path, finished([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '!' } }]));
    expect(await readJournal(path, id)).toMatchObject({ state: 'finished', isError: true });
    writeFileSync(path, started + finished([{ type: 'document', source: { type: 'url', url: 'http://a' } }]));
    expect(await readJournal(path, id)).toEqual({ state: 'running' });
  });

  it.each<[string, () => void]>([
    ['that is missing', () => {}],
    ['that is a link', () => symlinkSync('/etc/passwd', path)],
    ['that is a link to itself', () => symlinkSync(path, path)],
    ['that is a directory', () => mkdirSync(path)],
    ['that is a pipe', () => spawnSync('mkfifo', [path])],
    ['that has no directory', () => (path = join(path, 'deeper'))],
    ['without a line', () => writeFileSync(path, '\n'.repeat(1_000_000))],
    ['torn in its first line', () => writeFileSync(path, started.slice(0, -5))],
  ])('is empty where there is one %s', async (_, make) => {
    make();
    expect(await readJournal(path, id)).toEqual(unknown);
  });

  it.runIf(process.geteuid?.() !== 0)('is empty where it denies itself', async () => {
    writeFileSync(path, started);
    chmodSync(path, 0o000);
    expect(await readJournal(path, id)).toEqual(unknown);
  });

  it('is read to a limit, whatever its length', async () => {
    writeFileSync(path, started);
    truncateSync(path, 2 ** 40);
    expect(await readJournal(path, id)).toEqual({ state: 'running' });
  });
});
