/**
 * Which resolved addresses are never reached from a sandbox or by `web_fetch`. Everything that is not known to be public
 * is refused: an address range that is reserved today and routed tomorrow needs an update here, not a fix.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type AddressClass =
  | 'metadata'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'carrier-grade-nat'
  | 'multicast'
  | 'unspecified'
  | 'broadcast'
  | 'unique-local'
  | 'tunnel'
  | 'reserved';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Credentials of the machine are served at these. Most lie in ranges that are refused anyway and are listed for the clear
 * reason; 168.63.129.16 (Azure) looks public.
 */
const METADATA = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
]);

const CLASSES: Partial<Record<string, AddressClass>> = {
  loopback: 'loopback',
  private: 'private',
  linkLocal: 'link-local',
  carrierGradeNat: 'carrier-grade-nat',
  multicast: 'multicast',
  unspecified: 'unspecified',
  broadcast: 'broadcast',
  uniqueLocal: 'unique-local',
  deprecatedSiteLocal: 'private',
  '6to4': 'tunnel',
  teredo: 'tunnel',
};

const MAPPED = ipaddr.IPv6.parseCIDR('::ffff:0:0/96');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * The address itself, without a zone, and as IPv4 where it only wraps one: mapped, or NAT64 of the well-known prefix,
 * which is how an IPv6-only network reaches public IPv4 hosts. Null for what is no address.
 */
export function parseAddress(text: string): Address | null {
  const bare = text.replace(/%.*$/, '');
  const family = isIP(bare);
  if (family === 0) return null;
  if (family === 4) return ipaddr.IPv4.parse(bare);
  // Written anew in hexadecimal first: ipaddr.js takes "::10.0.0.1" for the mapped address, the kernel does not.
  const wide = ipaddr.IPv6.parse(new URL(`http://[${bare}]`).hostname.slice(1, -1));
  if (!wide.match(MAPPED) && !wide.match(NAT64)) return wide;
  return new ipaddr.IPv4(wide.toByteArray().slice(12));
}

/** The class for which the address is refused, or null for a public one. */
export function refusedAddressClass(text: string): AddressClass | null {
  const address = parseAddress(text);
  if (!address) return 'reserved';
  if (METADATA.has(address.toString())) return 'metadata';
  // The other embeddings of IPv4 (6to4, Teredo, SIIT, local NAT64, "compatible") are refused whole: no public host needs
  // them, and for some of them where the IPv4 address stands is a matter of the network's configuration.
  const range: string = address.range();
  if (range !== 'unicast') return CLASSES[range] ?? 'reserved';
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_UNICAST) ? null : 'reserved';
}
