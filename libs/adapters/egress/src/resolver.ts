import { lookup, Resolver } from 'node:dns/promises';

/** All addresses of a name; rejects when there are none. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>;

/**
 * The resolver that the proxy asks. Names that a sandbox chose go to c-ares, which uses no thread: `lookup` would let a few
 * names with a slow server occupy the threads that the whole process shares with its disk. Names that the operator's
 * allow-list holds are looked up as the system does it, with its hosts file.
 */
export function systemResolver(isTrusted: (host: string) => boolean): Resolve {
  return async (host, signal) => {
    // RFC 6761: these are loopback by definition, and are never asked of a name server.
    if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    if (isTrusted(host)) return (await lookup(host, { all: true })).map(({ address }) => address);
    return askNameServers(host, signal);
  };
}

async function askNameServers(host: string, signal: AbortSignal): Promise<string[]> {
  // One resolver per question, because cancelling is per resolver.
  const resolver = new Resolver({ timeout: 2_500, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [narrow, wide] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = [narrow, wide].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0 && narrow.status === 'rejected') throw narrow.reason;
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
