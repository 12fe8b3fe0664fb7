/**
 * `web_fetch`: a page as text, over the same way out as the sandboxes' traffic. The environment's networking has no say;
 * the tool's own domain lists and the address rules are checked for each hop of a redirect.
 */
import type { ToolAnswer, WebFetch, WebFetchRequest } from '@manyhands/ports';
import { EgressError } from './egress-error.ts';
import { isInDomains, normaliseHost } from './host-rules.ts';
import { pageTextInThread } from './html-thread.ts';
import type { Outbound } from './outbound.ts';
import { decodeText, isHtml } from './page-content.ts';
import { requestPage, type Hop } from './page-request.ts';
import { Turns } from './turns.ts';
import { WebFetchError } from './web-fetch-error.ts';

export interface WebFetchOptions {
  outbound: Outbound;
  timeLimitMs?: number;
  maxBodyBytes?: number;
  /** Certificates to trust instead of the system's. */
  ca?: string;
}

type DomainRules = Pick<WebFetchRequest, 'allowedDomains' | 'blockedDomains'>;

/** At once; each may hold a body of the full size in memory. */
const MAX_FETCHES = 32;
const MAX_REDIRECTS = 5;
const MAX_URL_CHARACTERS = 2_048;
const CHARACTERS_PER_TOKEN = 4;
/** With the lines around it a page stays below the 100,000 characters from which a result is spilled to a file. */
const DEFAULT_MAX_TOKENS = 24_000;

export class OutboundWebFetch implements WebFetch {
  readonly #options: WebFetchOptions;
  readonly #timeLimitMs: number;
  readonly #maxBodyBytes: number;
  readonly #turns = new Turns(MAX_FETCHES);

  constructor(options: WebFetchOptions) {
    this.#options = options;
    this.#timeLimitMs = options.timeLimitMs ?? 30_000;
    this.#maxBodyBytes = options.maxBodyBytes ?? 10 * 1024 * 1024;
  }

  async fetch(request: WebFetchRequest, signal: AbortSignal): Promise<ToolAnswer> {
    const deadline = AbortSignal.timeout(this.#timeLimitMs);
    try {
      const either = AbortSignal.any([signal, deadline]);
      const text = await this.#turns.take(either, () => this.#read(request, either));
      return { isError: false, content: [{ type: 'text', text }] };
    } catch (error) {
      const { code, message } = this.#explain(error, { signal, deadline });
      return { isError: true, content: [{ type: 'text', text: `${code}: ${message}` }] };
    }
  }

  async #read(request: WebFetchRequest, signal: AbortSignal): Promise<string> {
    const page = await this.#follow(permittedUrl(request.url, request), request, signal);
    const source = decodeText(page.contentType, page.body);
    const { title, text } = isHtml(page.contentType, page.body)
      ? await pageTextInThread(source, page.url.href, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          throw new WebFetchError('unavailable', 'The page could not be turned into text.', { cause: error });
        })
      : { title: null, text: source };
    const head = [`URL: ${page.url.href}`, ...(title === null ? [] : [`Title: ${title}`])].join('\n');
    return `${head}\n\n${clipped(text, (request.maxContentTokens ?? DEFAULT_MAX_TOKENS) * CHARACTERS_PER_TOKEN, page.isCut)}`;
  }

  async #follow(start: URL, rules: DomainRules, signal: AbortSignal): Promise<Hop> {
    const { outbound, ca } = this.#options;
    let url = start;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const hop = await requestPage(url, { outbound, ca, maxBodyBytes: this.#maxBodyBytes }, signal);
      if (hop.status >= 200 && hop.status < 300) return hop;
      if (!isRedirect(hop)) throw new WebFetchError('url_not_accessible', `${url.host} answered HTTP ${hop.status}.`);
      url = permittedUrl(hop.location, rules, url);
    }
    throw new WebFetchError('url_not_accessible', `More than ${MAX_REDIRECTS} redirects.`);
  }

  #explain(error: unknown, { signal, deadline }: { signal: AbortSignal; deadline: AbortSignal }): WebFetchError {
    if (signal.aborted) return new WebFetchError('unavailable', 'The fetch was interrupted.');
    if (deadline.aborted) {
      return new WebFetchError(
        'url_not_accessible',
        `The page did not arrive within ${this.#timeLimitMs / 1000} seconds.`,
      );
    }
    if (error instanceof WebFetchError) return error;
    if (error instanceof EgressError) {
      const code = error.code === 'address_not_allowed' ? 'url_not_allowed' : 'url_not_accessible';
      return new WebFetchError(code, error.message);
    }
    const { code } = (error ?? {}) as { code?: unknown };
    const reason = typeof code === 'string' ? code : 'unknown error';
    return new WebFetchError('url_not_accessible', `The connection to the host failed: ${reason}.`);
  }
}

function isRedirect(hop: Hop): hop is Hop & { location: string } {
  return [301, 302, 303, 307, 308].includes(hop.status) && hop.location !== null;
}

function permittedUrl(text: string, rules: DomainRules, base?: URL): URL {
  // Node reads header fields as Latin-1; hosts write UTF-8 into Location.
  const written = base ? Buffer.from(text, 'latin1').toString() : text.trim();
  if (written.length > MAX_URL_CHARACTERS) {
    throw new WebFetchError('url_too_long', `A URL may have ${MAX_URL_CHARACTERS} characters.`);
  }
  const url = URL.parse(written, base?.href);
  if (!url) throw new WebFetchError('invalid_tool_input', 'This is no absolute http or https URL.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new WebFetchError('url_not_allowed', 'Only http and https URLs can be fetched.');
  }
  if (url.username || url.password) {
    throw new WebFetchError('url_not_allowed', 'A URL with credentials cannot be fetched.');
  }
  const host = normaliseHost(url.hostname);
  if (host === null) throw new WebFetchError('invalid_tool_input', 'The URL has no host that could be asked.');
  const { allowedDomains, blockedDomains } = rules;
  if ((allowedDomains && !isInDomains(allowedDomains, host)) || (blockedDomains && isInDomains(blockedDomains, host))) {
    throw new WebFetchError('url_not_allowed', `${host} is not among the domains that web_fetch may reach.`);
  }
  url.hash = '';
  return url;
}

function clipped(text: string, maxCharacters: number, isCut: boolean): string {
  if (text.length <= maxCharacters) return isCut ? `${text}\n\n[The page is longer and was cut here.]` : text;
  const kept = text.slice(0, maxCharacters).replace(/[\ud800-\udbff]$/, '');
  return `${kept}\n\n[Cut here: ${kept.length} of ${text.length} characters are shown.]`;
}
