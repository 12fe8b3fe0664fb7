/** One GET of one hop, over a socket that the address rules have judged. Redirects are its caller's business. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { normaliseHost } from './host-rules.ts';
import type { Outbound } from './outbound.ts';
import { refuseUnreadable } from './page-content.ts';
import { WebFetchError } from './web-fetch-error.ts';

export interface Hop {
  url: URL;
  status: number;
  location: string | null;
  contentType: string;
  body: Buffer;
  /** The body was longer than the limit, and the rest was not read. */
  isCut: boolean;
}

export interface PageRequestDeps {
  outbound: Outbound;
  maxBodyBytes: number;
  /** Certificates to trust instead of the system's. */
  ca?: string | undefined;
}

const HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; Manyhands web_fetch)',
  accept: 'text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.8, */*;q=0.1',
  'accept-language': 'en, *;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
  connection: 'close',
};

export async function requestPage(url: URL, deps: PageRequestDeps, signal: AbortSignal): Promise<Hop> {
  const host = normaliseHost(url.hostname) ?? '';
  const isSecure = url.protocol === 'https:';
  const plain = await deps.outbound.connect({ host, port: Number(url.port || (isSecure ? 443 : 80)) }, signal);
  try {
    const socket = isSecure ? await secured(plain, host, deps.ca, signal) : plain;
    const answer = await answerTo(url, socket, signal);
    const { location = null, 'content-type': contentType = '' } = answer.headers;
    const status = answer.statusCode ?? 0;
    if (status < 200 || status > 299)
      return { url, status, location, contentType, body: Buffer.alloc(0), isCut: false };
    refuseUnreadable(contentType);
    return { url, status, location, contentType, ...(await bodyOf(answer, deps.maxBodyBytes)) };
  } finally {
    plain.destroy();
  }
}

async function secured(socket: Socket, host: string, ca: string | undefined, signal: AbortSignal): Promise<Socket> {
  const secure = tlsConnect({
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
    ALPNProtocols: ['http/1.1'],
  });
  secure.on('error', () => undefined); // Whoever waits gets it too; alone it must not end the process.
  await once(secure, 'secureConnect', { signal });
  return secure;
}

async function answerTo(url: URL, socket: Socket, signal: AbortSignal): Promise<IncomingMessage> {
  const request = httpRequest({
    createConnection: () => socket,
    method: 'GET',
    path: url.pathname + url.search,
    headers: { host: url.host, ...HEADERS },
    maxHeaderSize: 64 * 1024,
    signal,
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve);
  request.on('error', reject);
  request.once('close', () => reject(new WebFetchError('url_not_accessible', `${url.host} gave no answer.`)));
  request.end();
  return promise;
}

async function bodyOf(answer: IncomingMessage, maxBytes: number): Promise<{ body: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decoded(answer) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), isCut: size > maxBytes };
}

function decoded(answer: IncomingMessage): Readable {
  const coding = (answer.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (coding === '' || coding === 'identity') return answer;
  const decoder = decoderFor(coding);
  pipeline(answer, decoder, () => undefined); // The reader of the decoder gets the error too.
  return decoder;
}

function decoderFor(coding: string): Transform {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new WebFetchError('unsupported_content_type', `The page is encoded as "${coding.slice(0, 40)}".`);
  }
}
