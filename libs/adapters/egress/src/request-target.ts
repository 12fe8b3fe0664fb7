/** What a client of the proxy asks to be connected to. One parser says both whom we check and whom we ask. */
import { EgressError } from './egress-error.ts';
import { normaliseHost } from './host-rules.ts';
import type { Target } from './outbound.ts';

/** The target of a CONNECT: `host:port`, the port written out. */
export function parseAuthority(authority: string): Target {
  const [, written = '', digits = ''] = /^(\[[^\]]+\]|[^:[\]]+):(\d{1,5})$/.exec(authority) ?? [];
  const host = normaliseHost(written);
  const port = Number(digits);
  if (host === null || port < 1 || port > 65_535)
    throw new EgressError('bad_target', 'CONNECT needs a host and a port.');
  return { host, port };
}

export interface PlainTarget extends Target {
  /** What stands in the Host field of the forwarded request. */
  authority: string;
  path: string;
}

/** The target of every other method: an absolute `http:` URL. */
export function parseAbsolute(text: string): PlainTarget {
  const url = text.startsWith('/') ? null : URL.parse(text);
  if (!url) throw new EgressError('bad_target', 'This is a proxy: the request needs an absolute URL.');
  if (url.protocol !== 'http:')
    throw new EgressError('bad_target', 'Only http: is forwarded; use CONNECT for the rest.');
  if (url.username || url.password) throw new EgressError('bad_target', 'A URL with credentials is not forwarded.');
  const host = normaliseHost(url.hostname);
  if (host === null) throw new EgressError('bad_target', 'The URL has no host.');
  return { host, port: Number(url.port || 80), authority: url.host, path: url.pathname + url.search };
}
