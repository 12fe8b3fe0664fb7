import { randomBytes } from 'node:crypto';
import { SecretFileError, readOrCreateSecretFile } from './secret-file.ts';

const pattern = /^mh-[A-Za-z0-9_-]{43}$/;

/** The key of the only user: `mh-` and 256 random bits. `created` says that nobody has been shown it yet. */
export function loadOrCreateApiKey(file: string): { key: string; created: boolean } {
  const make = () => Buffer.from(`mh-${randomBytes(32).toString('base64url')}\n`);
  const { bytes, created } = readOrCreateSecretFile(file, make);
  const key = Buffer.from(bytes).toString('utf8').trimEnd();
  if (!pattern.test(key)) throw new SecretFileError(`${file} does not hold an API key.`);
  return { key, created };
}
