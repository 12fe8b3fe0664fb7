import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { socketDirectory } from './socket-directory.ts';

describe('the directory of sockets', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'sockets-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('lies in the data directory where the path is short', () => {
    expect(socketDirectory(root, 'egress')).toBe(path.join(root, 'egress'));
  });

  it('lies elsewhere, always at the same place and closed to others, where the path is long', () => {
    const deep = path.join(root, 'd'.repeat(120));
    const found = socketDirectory(deep, 'egress');
    expect(Buffer.byteLength(found)).toBeLessThanOrEqual(80);
    expect(socketDirectory(deep, 'egress')).toBe(found);
    expect(socketDirectory(`${deep}2`, 'egress')).not.toBe(found);
    expect(statSync(found).mode & 0o777).toBe(0o700);
    rmSync(socketDirectory(`${deep}2`, 'egress'), { recursive: true });
    rmSync(found, { recursive: true });
  });

  it('refuses a place that others may enter', () => {
    const deep = path.join(root, 'e'.repeat(120));
    const found = socketDirectory(deep, 'egress');
    chmodSync(found, 0o755);
    expect(() => socketDirectory(deep, 'egress')).toThrow('belongs to somebody else');
    rmSync(found, { recursive: true });
  });
});
