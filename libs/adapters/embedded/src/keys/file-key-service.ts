import { randomBytes } from 'node:crypto';
import { KeyServiceError } from '@manyhands/ports';
import { LocalKeyService } from './local-key-service.ts';
import { readOrCreateSecretFile, readSecretFile } from './secret-file.ts';

/** A key service whose key-encryption key is a file of 32 bytes and mode 0600. */
export class FileKeyService extends LocalKeyService {
  /**
   * Opens the key file. Where a log exists already, pass `mayCreate: false`: a fresh key beside it could read nothing
   * of it, and the loss should be told at the start.
   */
  static open(file: string, { mayCreate = true }: { mayCreate?: boolean } = {}): FileKeyService {
    const key = mayCreate ? readOrCreateSecretFile(file, () => randomBytes(32)).bytes : readSecretFile(file);
    if (!key) throw new KeyServiceError(`The key file ${file} is missing, and the log cannot be read without it.`);
    if (key.length !== 32) throw new KeyServiceError(`${file} must hold 32 bytes, and holds ${key.length}.`);
    return new FileKeyService(key);
  }
}
