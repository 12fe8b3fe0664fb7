import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadOrCreateApiKey } from './api-key.ts';

describe('loadOrCreateApiKey', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'api-key-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it('makes a key once, and says when it did', () => {
    const file = path.join(directory, 'api-key');
    const first = loadOrCreateApiKey(file);
    expect(first).toEqual({ key: expect.stringMatching(/^mh-[A-Za-z0-9_-]{43}$/) as string, created: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(loadOrCreateApiKey(file)).toEqual({ key: first.key, created: false });
  });

  it('refuses a file that holds no key, without quoting it', () => {
    const file = path.join(directory, 'broken');
    writeFileSync(file, 'mh-short', { mode: 0o600 });
    expect(() => loadOrCreateApiKey(file)).toThrow(/does not hold an API key/);
    expect(() => loadOrCreateApiKey(file)).not.toThrow(/mh-short/);
  });
});
