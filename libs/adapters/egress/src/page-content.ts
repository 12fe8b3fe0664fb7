/** What a page's bytes are, by what the host says of them, and their text. */
import { WebFetchError } from './web-fetch-error.ts';

const HTML_TYPES = new Set(['text/html', 'application/xhtml+xml']);
const TEXT_TYPES =
  /^(?:text\/.+|application\/(?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|x-ndjson|jsonl|sql|graphql)|.+\+(?:json|xml|yaml))$/;

/** Before the body is read. A host that tells no type is asked for its bytes. */
export function refuseUnreadable(contentType: string): void {
  const type = mediaType(contentType);
  if (type === '' || HTML_TYPES.has(type) || (TEXT_TYPES.test(type) && type !== 'image/svg+xml')) return;
  throw new WebFetchError(
    'unsupported_content_type',
    `The page is ${type.slice(0, 100)}; only HTML and text can be read.`,
  );
}

export function isHtml(contentType: string, body: Buffer): boolean {
  const type = mediaType(contentType);
  if (type !== '') return HTML_TYPES.has(type);
  if (body.subarray(0, 1024).includes(0)) {
    throw new WebFetchError('unsupported_content_type', 'The page is binary data; only HTML and text can be read.');
  }
  return looksLikeHtml(body);
}

function mediaType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function looksLikeHtml(body: Buffer): boolean {
  return /^\s*(?:<!doctype html|<html|<head|<body)/i.test(body.toString('latin1', 0, 512));
}

/** The byte order mark decides, then the header, then what the document says of itself; UTF-8 otherwise. */
export function decodeText(contentType: string, body: Buffer): string {
  const label = markedEncoding(body) ?? /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ?? declaredEncoding(body);
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return new TextDecoder().decode(body); // An unknown label says nothing; UTF-8 is the likeliest.
  }
}

function markedEncoding(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return undefined;
}

function declaredEncoding(body: Buffer): string {
  const head = body.toString('latin1', 0, 2048);
  const [, meta] = /<meta\s[^>]*charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head) ?? [];
  const [, xml] = /^<\?xml\s[^>]*encoding\s*=\s*["']([\w.:-]+)/i.exec(head) ?? [];
  return meta ?? xml ?? 'utf-8';
}
