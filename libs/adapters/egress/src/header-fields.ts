import type { IncomingMessage } from 'node:http';
import { EgressError } from './egress-error.ts';

/** RFC 9110, 7.6.1, with what clients send to proxies alone. The framing is written anew for each hop. */
const HOP_BY_HOP = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
]);

/** The fields that travel on, as a flat list of names and values; duplicates and order stay. */
export function endToEndFields(message: IncomingMessage): string[] {
  const named = new Set(listed(message.headers.connection));
  const { rawHeaders } = message;
  const fields: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || key.startsWith('proxy-') || named.has(key)) continue;
    fields.push(name, rawHeaders[at + 1] ?? '');
  }
  return fields;
}

function listed(value: string | undefined): string[] {
  // A client that lists the framing as hop-by-hop would make it vanish, and with it the end of the body.
  const names = (value ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== 'content-length' && name !== 'host');
}

const WITHOUT_BODY = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/**
 * The fields of a forwarded request. The Host of the client is replaced with the one that was checked (RFC 9112, 3.2.2),
 * and the framing is always written out: left to itself Node writes the body of a chunked GET without any, and its end
 * would be read as the next request.
 */
export function forwardedRequestFields(request: IncomingMessage, authority: string): string[] {
  const kept = endToEndFields(request);
  const fields = ['Host', authority];
  for (let at = 0; at < kept.length; at += 2) {
    const [name = '', value = ''] = kept.slice(at, at + 2);
    if (name.toLowerCase() !== 'host') fields.push(name, value);
  }
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked') {
      throw new EgressError('not_supported', 'Only the transfer coding "chunked" is forwarded.');
    }
    fields.push('Transfer-Encoding', 'chunked');
  } else if (request.headers['content-length'] === undefined && !WITHOUT_BODY.has(request.method ?? '')) {
    fields.push('Content-Length', '0');
  }
  fields.push('Connection', 'close');
  return fields;
}
