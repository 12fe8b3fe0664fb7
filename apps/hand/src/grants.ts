import { createPublicKey, type KeyObject } from 'node:crypto';
import { verifyGrant } from '@manyhands/adapter-hand';
import { grantRefusal, type HandConfig, type HandGrant } from '@manyhands/core';
import type { Fence } from './fence.ts';

export type Admission = { kind: 'admitted' } | { kind: 'unauthorized' | 'fenced'; message: string };

/** Decides by its grant whether a request may act on this life of this hand, and raises the fence to its epoch. */
export class Grants {
  readonly #life: HandConfig;
  readonly #publicKey: KeyObject;
  readonly #fence: Fence;
  /** Whoever holds a lease sends the same token for a while; that it was signed need not be worked out anew. */
  #verified: { token: string; grant: HandGrant } | null = null;

  constructor(config: HandConfig, fence: Fence) {
    this.#life = config;
    this.#fence = fence;
    this.#publicKey = createPublicKey({
      key: Buffer.from(config.publicKey, 'base64url'),
      format: 'der',
      type: 'spki',
    });
  }

  async admit(authorization: string | undefined): Promise<Admission> {
    const token = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1];
    const grant = token === undefined ? null : this.#verify(token);
    if (!grant) return { kind: 'unauthorized', message: 'the request carries no grant of this platform' };
    const refusal = grantRefusal(grant, this.#life, Date.now());
    if (refusal === 'other-life')
      return { kind: 'fenced', message: `this is generation ${this.#life.generation}, not ${grant.generation}` };
    if (refusal) return { kind: 'unauthorized', message: `the grant is no good here: ${refusal}` };
    if (await this.#fence.admits(grant.epoch)) return { kind: 'admitted' };
    return { kind: 'fenced', message: `epoch ${this.#fence.epoch} was here, ${grant.epoch} is over` };
  }

  #verify(token: string): HandGrant | null {
    if (this.#verified?.token === token) return this.#verified.grant;
    const grant = verifyGrant(token, this.#publicKey);
    if (grant) this.#verified = { token, grant };
    return grant;
  }
}
