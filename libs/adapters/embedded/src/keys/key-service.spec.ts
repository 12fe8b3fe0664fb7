import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KeyServiceError } from '@manyhands/ports';
import { keyServiceContract } from '@manyhands/ports/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { FileKeyService } from './file-key-service.ts';
import { LocalKeyService } from './local-key-service.ts';
import { SecretFileError } from './secret-file.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'keys-'));
afterAll(() => rmSync(directory, { recursive: true }));
const file = (name: string) => path.join(directory, name);

const key = randomBytes(32);
keyServiceContract('local', {
  open: async () => new LocalKeyService(key),
  openOther: async () => new LocalKeyService(randomBytes(32)),
});

keyServiceContract('file', {
  open: async () => FileKeyService.open(file('one')),
  openOther: async () => FileKeyService.open(file('other')),
});

describe('FileKeyService', () => {
  it('makes a file of 32 bytes that only its owner may read', () => {
    const service = FileKeyService.open(file('fresh'));
    expect(statSync(file('fresh')).mode & 0o777).toBe(0o600);
    expect([...readFileSync(file('fresh'))]).toEqual([...service.keyEncryptionKey]);
    expect(service.keyEncryptionKey).toHaveLength(32);
  });

  it('wraps the same key differently each time', () => {
    const service = FileKeyService.open(file('fresh'));
    expect([...service.wrap(key, 'a')]).not.toEqual([...service.wrap(key, 'a')]);
  });

  it('gives a thread what it needs to make its own', () => {
    const service = FileKeyService.open(file('fresh'));
    const copy = new LocalKeyService(Uint8Array.from(service.keyEncryptionKey));
    expect([...copy.unwrap(service.wrap(key, 'a'), 'a')]).toEqual([...key]);
  });

  it('refuses a file that others may read, and says how to mend it', () => {
    writeFileSync(file('open'), randomBytes(32));
    chmodSync(file('open'), 0o640);
    expect(() => FileKeyService.open(file('open'))).toThrow(SecretFileError);
    expect(() => FileKeyService.open(file('open'))).toThrow(/has mode 0640; it must be 0600/);
  });

  it.each([0, 31, 33])('refuses a file of %i bytes and leaves it as it is', (length) => {
    writeFileSync(file(`of-${length}`), randomBytes(length), { mode: 0o600 });
    expect(() => FileKeyService.open(file(`of-${length}`))).toThrow(/must hold 32 bytes/);
    expect(statSync(file(`of-${length}`)).size).toBe(length);
  });

  it('does not replace a key that is lost where one must be', () => {
    expect(() => FileKeyService.open(file('lost'), { mayCreate: false })).toThrow(KeyServiceError);
    expect(() => statSync(file('lost'))).toThrow(/ENOENT/);
    const service = FileKeyService.open(file('fresh'), { mayCreate: false });
    expect(service.keyEncryptionKey).toHaveLength(32);
  });

  it('is not disturbed by what a crash in the middle of the first start left', () => {
    writeFileSync(file('crashed.new'), 'half', { mode: 0o600 });
    expect(FileKeyService.open(file('crashed')).keyEncryptionKey).toHaveLength(32);
  });
});
