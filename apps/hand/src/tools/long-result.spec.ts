import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textAnswer } from './answer.ts';
import { keepLongResult } from './long-result.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'long-'))));
afterEach(() => rmSync(folder, { recursive: true }));

describe('a result of more than 100,000 characters', () => {
  it('is kept in a file, and shown by its ends', async () => {
    const whole = `begin${'x'.repeat(100_000)}end`;
    const { isError, content } = await keepLongResult(textAnswer(whole, true), join(folder, 'new'), 'sevt_1');
    const text = content[0]?.type === 'text' ? content[0].text : '';
    expect(isError).toBe(true);
    expect(text).toContain(`written to ${join(folder, 'new/sevt_1.txt')}`);
    expect(text).toMatch(/\nbeginx{9995}\n\[\.\.\. 80008 characters left out \.\.\.\]\nx{9997}end$/);
    expect(readFileSync(join(folder, 'new/sevt_1.txt'), 'utf8')).toBe(whole);
  });

  it('is shown all the same when it cannot be kept', async () => {
    writeFileSync(join(folder, 'file'), '');
    const { content } = await keepLongResult(textAnswer('x'.repeat(100_001)), join(folder, 'file'), 'sevt_1');
    expect(content).toEqual([{ type: 'text', text: expect.stringContaining('not kept (EEXIST)') as string }]);
  });

  it('is not cut within a character', async () => {
    const { content } = await keepLongResult(textAnswer(`a${'😀'.repeat(60_000)}`), folder, 'sevt_1');
    expect(content[0]?.type === 'text' && content[0].text.isWellFormed()).toBe(true);
  });

  it('begins above that number', async () => {
    const answer = textAnswer('x'.repeat(100_000));
    expect(await keepLongResult(answer, folder, 'sevt_1')).toBe(answer);
  });
});
