/**
 * The one way out: everything that the proxy and `web_fetch` connect to is resolved, judged and dialled here.
 *
 * - A name is resolved once per connection, and the connection is made to the addresses that were judged, never to the name
 *   again: a second answer of a name server (DNS rebinding) has no say.
 * - Of several addresses those that the rules refuse are left out; when none is left, the connection is refused.
 */
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { parseAddress, refusedAddressClass } from './address-rules.ts';
import type { AllowList } from './allow-list.ts';
import { EgressError } from './egress-error.ts';
import { systemResolver, type Resolve } from './resolver.ts';

/** `host` is normalised: a name, or an address without brackets. */
export interface Target {
  host: string;
  port: number;
}

export interface OutboundOptions {
  allowList: AllowList;
  resolve?: Resolve;
  /** The machine's own addresses. */
  ownAddresses?: () => Iterable<string>;
  /** For resolving and connecting together. */
  connectTimeoutMs?: number;
}

/** A name server of the caller's choice may answer with thousands. */
const MAX_ADDRESSES = 16;

export class Outbound {
  readonly #allowList: AllowList;
  readonly #resolve: Resolve;
  readonly #ownAddresses: () => Iterable<string>;
  readonly #connectTimeoutMs: number;

  constructor(options: OutboundOptions) {
    this.#allowList = options.allowList;
    this.#resolve = options.resolve ?? systemResolver((host) => options.allowList.names(host));
    this.#ownAddresses = options.ownAddresses ?? interfaceAddresses;
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  }

  /** A connected socket, half-open allowed. Throws an EgressError, or the signal's reason when the caller gave up. */
  async connect(target: Target, signal: AbortSignal): Promise<Socket> {
    const deadline = AbortSignal.timeout(this.#connectTimeoutMs);
    const either = AbortSignal.any([signal, deadline]);
    try {
      return await dial(target, await this.#permittedAddresses(target, either), either);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EgressError) throw error;
      if (deadline.aborted) throw new EgressError('connect_timeout', `${named(target)} did not answer in time.`);
      throw new EgressError('connect_failed', `The connection to ${named(target)} failed: ${reasonOf(error)}.`, {
        cause: error,
      });
    }
  }

  async #permittedAddresses(target: Target, signal: AbortSignal): Promise<string[]> {
    const addresses = isIP(target.host) ? [target.host] : await this.#lookUp(target.host, signal);
    const own = new Set([...this.#ownAddresses()].map(canonical));
    const refusals = addresses.map((address) => {
      if (this.#allowList.permits(target, address)) return null;
      // A connection to an own public address would not pass the firewall before it.
      return refusedAddressClass(address) ?? (own.has(canonical(address)) ? ('own' as const) : null);
    });
    const permitted = addresses.filter((_, at) => refusals[at] === null);
    if (permitted.length > 0) return permitted;
    const refusal = refusals.find((each) => each !== null) ?? 'reserved';
    throw new EgressError(
      'address_not_allowed',
      `${target.host} leads to an address that is never reachable (${refusal}).`,
    );
  }

  async #lookUp(host: string, signal: AbortSignal): Promise<string[]> {
    const addresses = await settledBefore(signal, this.#resolve(host, signal)).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new EgressError('name_not_resolved', `The name ${host} could not be resolved: ${reasonOf(error)}.`, {
        cause: error,
      });
    });
    if (addresses.length === 0) throw new EgressError('name_not_resolved', `The name ${host} has no address.`);
    return addresses.slice(0, MAX_ADDRESSES);
  }
}

function named({ host, port }: Target): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

function canonical(address: string): string {
  return parseAddress(address)?.toString() ?? address;
}

/** The code alone: the text of a system error names the address. */
function reasonOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : 'unknown error';
}

function dial({ host, port }: Target, addresses: readonly string[], signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const judged: LookupFunction = (_host, _options, answer) => {
    answer(
      null,
      addresses.map((address) => ({ address, family: isIP(address) })),
    );
  };
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  // With autoSelectFamily Node asks `lookup` for all addresses and tries one after the other.
  const socket = connect({
    host,
    port,
    lookup: judged,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
    allowHalfOpen: true,
    noDelay: true,
  });
  const giveUp = () => socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', giveUp, { once: true });
  socket.once('connect', () => {
    socket.off('error', reject);
    resolve(socket);
  });
  socket.once('error', reject);
  return promise.finally(() => signal.removeEventListener('abort', giveUp));
}

function settledBefore<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(signal.reason as Error);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', giveUp));
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
}
