import { createPublicKey, sign, verify } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadOrCreateSigningKey } from './signing-key.ts';

describe('loadOrCreateSigningKey', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'signing-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'signing-key');

  it('makes a key once, in a file that only its owner may read', () => {
    const first = loadOrCreateSigningKey(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(loadOrCreateSigningKey(file).publicKeySpki).toBe(first.publicKeySpki);
  });

  it('signs what the holder of the portable public key can verify', () => {
    const { privateKey, publicKeySpki } = loadOrCreateSigningKey(file);
    const grant = Buffer.from('grant');
    const signature = sign(null, grant, privateKey);
    const publicKey = createPublicKey({ key: Buffer.from(publicKeySpki, 'base64'), format: 'der', type: 'spki' });
    expect(verify(null, grant, publicKey, signature)).toBe(true);
    expect(verify(null, Buffer.from('other'), publicKey, signature)).toBe(false);
  });

  it('refuses a file that holds something else, without quoting it', () => {
    const other = path.join(directory, 'other');
    writeFileSync(other, 'the-secret-of-somebody-else', { mode: 0o600 });
    expect(() => loadOrCreateSigningKey(other)).toThrow(/does not hold an Ed25519 private key/);
    expect(() => loadOrCreateSigningKey(other)).not.toThrow(/the-secret/);
  });
});
