import { KeyServiceError, type KeyService } from '../key-service.ts';

/**
 * Keeps what it wrapped and hands out tickets: no cipher, but the promises of the port. Services that share one have the
 * same key-encryption key.
 */
export class MemoryKeyService implements KeyService {
  readonly #wrapped = new Map<string, { dataKey: Uint8Array; context: string }>();

  wrap(dataKey: Uint8Array, context: string): Uint8Array {
    const ticket = `wrapped-${this.#wrapped.size}`;
    this.#wrapped.set(ticket, { dataKey: dataKey.slice(), context });
    return new TextEncoder().encode(ticket);
  }

  unwrap(wrapped: Uint8Array, context: string): Uint8Array {
    const entry = this.#wrapped.get(new TextDecoder().decode(wrapped));
    if (entry?.context !== context) throw new KeyServiceError('not wrapped by this key for this context');
    return entry.dataKey.slice();
  }
}
