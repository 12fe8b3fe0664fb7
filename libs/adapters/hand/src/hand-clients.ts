import type { KeyObject } from 'node:crypto';
import type { Hand, HandAddress, HandConnector, HandRef } from '@manyhands/ports';
import { HandClient } from './hand-client.ts';

/** Opens clients that sign their grants with one key; every daemon was started with its public half. */
export class HandClients implements HandConnector {
  readonly #privateKey: KeyObject;

  constructor(privateKey: KeyObject) {
    this.#privateKey = privateKey;
  }

  connect(ref: HandRef, address: HandAddress): Hand {
    return new HandClient(ref, address, this.#privateKey);
  }
}
