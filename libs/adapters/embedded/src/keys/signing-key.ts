import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { SecretFileError, readOrCreateSecretFile } from './secret-file.ts';

/** The Ed25519 key that signs execution grants. */
export interface SigningKey {
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** The public key as base64 of its DER form (SubjectPublicKeyInfo), to be handed to whoever verifies. */
  publicKeySpki: string;
}

/** Opens the key file (PKCS #8 in PEM, mode 0600), or makes it. */
export function loadOrCreateSigningKey(file: string): SigningKey {
  const { bytes } = readOrCreateSecretFile(file, makeKey);
  const privateKey = parseKey(file, bytes);
  const publicKey = createPublicKey(privateKey);
  return {
    privateKey,
    publicKey,
    publicKeySpki: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  };
}

function makeKey(): Uint8Array {
  const { privateKey } = generateKeyPairSync('ed25519');
  return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

function parseKey(file: string, pem: Uint8Array): KeyObject {
  let key: KeyObject | null = null;
  try {
    key = createPrivateKey({ key: Buffer.from(pem), format: 'pem' });
  } catch {
    // The reason could quote the key; that it is none says enough.
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw new SecretFileError(`${file} does not hold an Ed25519 private key.`);
  return key;
}
