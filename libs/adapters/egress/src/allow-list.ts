import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseAddress } from './address-rules.ts';
import { normaliseHost } from './host-rules.ts';

type Entry =
  | { kind: 'name'; name: string; port: number | null }
  | { kind: 'range'; network: ipaddr.IPv4 | ipaddr.IPv6; prefixLength: number; port: number | null };

/**
 * The operator's exceptions from the address rules, for tests and for hosts on the own premises. An entry is a host name or
 * an address, each with or without a port (`registry.corp:5000`, `10.1.2.3`, `[fd00::7]:8443`), or a network
 * (`10.1.0.0/16`). A named host may resolve to any address. An environment's own list of hosts is not widened by it.
 */
export class AllowList {
  readonly #entries: readonly Entry[];

  constructor(entries: readonly string[]) {
    this.#entries = entries.map((text) => {
      const entry = parseEntry(text);
      if (entry) return entry;
      throw new Error(`The egress allow-list has "${text}", which is no host, host:port, address or network.`);
    });
  }

  /** Whether a list may have this entry; a list with another is not made. */
  static accepts(entry: string): boolean {
    return parseEntry(entry) !== null;
  }

  permits(target: { host: string; port: number }, address: string): boolean {
    return this.#entries.some((entry) => {
      if (entry.port !== null && entry.port !== target.port) return false;
      return entry.kind === 'name' ? entry.name === target.host : contains(entry, address);
    });
  }

  /** Whether the operator names this host: such names are resolved the way the operator's system does it. */
  names(host: string): boolean {
    return this.#entries.some((entry) => entry.kind === 'name' && entry.name === host);
  }
}

function contains(entry: Entry & { kind: 'range' }, text: string): boolean {
  const address = parseAddress(text);
  if (!address || address.kind() !== entry.network.kind()) return false;
  return ipaddr.subnetMatch(address, { inside: [[entry.network, entry.prefixLength]] }, 'outside') === 'inside';
}

function parseEntry(text: string): Entry | null {
  return text.includes('/') ? parseNetwork(text) : parseHost(text);
}

function parseNetwork(text: string): Entry | null {
  if (!ipaddr.isValidCIDR(text)) return null;
  const [network, prefixLength] = ipaddr.parseCIDR(text);
  return { kind: 'range', network, prefixLength, port: null };
}

function parseHost(text: string): Entry | null {
  if (isIP(text)) return single(text, null);
  const [, written, digits] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = written === undefined ? null : normaliseHost(written);
  const port = digits === undefined ? null : Number(digits);
  if (host === null || (port !== null && (port < 1 || port > 65_535))) return null;
  return isIP(host) ? single(host, port) : { kind: 'name', name: host, port };
}

function single(text: string, port: number | null): Entry | null {
  const network = parseAddress(text);
  return network && { kind: 'range', network, prefixLength: network.kind() === 'ipv4' ? 32 : 128, port };
}
