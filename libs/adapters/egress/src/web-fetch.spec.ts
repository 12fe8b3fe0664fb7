import type { RequestListener } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { ToolAnswer, WebFetchRequest } from '@manyhands/ports';
import { afterEach, describe, expect, it } from 'vitest';
import { AllowList } from './allow-list.ts';
import { Outbound } from './outbound.ts';
import { certificate, httpServer, httpsServer, tcpServer, type LocalServer } from './testing/servers.ts';
import { OutboundWebFetch, type WebFetchOptions } from './web-fetch.ts';

const closing: LocalServer[] = [];

afterEach(async () => {
  for (const server of closing.splice(0)) await server.close();
});

async function serving(listener: RequestListener): Promise<string> {
  const server = await httpServer(listener);
  closing.push(server);
  return `http://page.test:${server.port}`;
}

const page = (type: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  serving((_, response) => {
    response.writeHead(200, { ...(type && { 'content-type': type }), ...headers });
    response.end(body);
  });

/** Every name ending in .test is this machine, and reachable; the rest is as the rules say. */
function webFetch(options: Partial<WebFetchOptions> = {}, names: Record<string, string[]> = {}): OutboundWebFetch {
  return new OutboundWebFetch({
    outbound: new Outbound({
      allowList: new AllowList(['127.0.0.1']),
      resolve: async (host) => {
        if (names[host]) return names[host];
        if (host.endsWith('.test')) return ['127.0.0.1'];
        throw Object.assign(new Error(host), { code: 'ENOTFOUND' });
      },
    }),
    ...options,
  });
}

const never = new AbortController().signal;
const asked = (url: string, more: Partial<WebFetchRequest> = {}): WebFetchRequest => ({
  url,
  allowedDomains: null,
  blockedDomains: null,
  maxContentTokens: null,
  ...more,
});

function textOf({ content }: ToolAnswer): string {
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join();
}

async function read(url: string, more: Partial<WebFetchRequest> = {}, fetcher = webFetch()): Promise<string> {
  const answer = await fetcher.fetch(asked(url, more), never);
  expect(answer).toMatchObject({ isError: false });
  return textOf(answer);
}

async function failure(url: string, more: Partial<WebFetchRequest> = {}, fetcher = webFetch()): Promise<string> {
  const answer = await fetcher.fetch(asked(url, more), never);
  expect(answer).toMatchObject({ isError: true });
  return textOf(answer);
}

describe('what is read', () => {
  it('turns a page into text with its title, headings, links, lists, tables and code', async () => {
    const base = await page(
      'text/html; charset=utf-8',
      `<!doctype html><html><head><title>Hands &amp; feet</title><style>p { color: red }</style></head>
      <body><script>alert('no')</script><h1>Main</h1><p>Some <b>bold</b> text,
      see <a href="/docs?a=1">the docs</a>, <a href="javascript:x()">no link</a> and <a href="#here">here</a>.</p>
      <ul><li>one</li><li>two</li></ul><pre><code>let  x = 1;\n  y()</code></pre>
      <table><tr><th>Name</th><th>Age</th></tr><tr><td>Ada</td><td>36</td></tr></table><img alt="a" src="/i.png">
      </body></html>`,
    );
    const text = await read(`${base}/start`);
    expect(text).toContain(`URL: ${base}/start\nTitle: Hands & feet\n\n`);
    expect(text).toContain('# Main\n\n');
    expect(text).toContain(`Some bold text, see [the docs](${base}/docs?a=1), no link and here.`);
    expect(text).toMatch(/- one\n- two/);
    expect(text).toContain('```\nlet  x = 1;\n  y()\n```');
    expect(text).toMatch(/Name \| Age \|\s*\n\s*Ada \| 36 \|/);
    expect(text).not.toMatch(/alert|color: red|i\.png/);
  });

  it('leaves JSON and other text as it is', async () => {
    expect(await read(await page('application/json', '{"a": [1,  2]}'))).toMatch(/\n\n\{"a": \[1,  2\]\}$/);
    expect(await read(await page('application/ld+json', '{}'))).toMatch(/\{\}$/);
    expect(await read(await page('text/markdown', '# <b>'))).toMatch(/# <b>$/);
    expect(await read(await page('', 'plain words'))).toMatch(/plain words$/);
    expect(await read(await page('', '<!doctype html><title>T</title><p>words</p>'))).toMatch(/\n\nwords$/);
  });

  it.each([
    ['text/html; charset=iso-8859-1', Buffer.from('<p>caf\xe9</p>', 'latin1')],
    ['text/html', Buffer.from('<meta charset="windows-1252"><p>caf\xe9</p>', 'latin1')],
    ['text/html', Buffer.from('<meta http-equiv="x" content="text/html; charset=latin1"><p>caf\xe9</p>', 'latin1')],
    ['application/xml', Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>caf\xe9</a>', 'latin1')],
    ['text/plain; charset=utf-16le', Buffer.from('\ufeffcafé', 'utf16le')],
    ['text/plain', Buffer.from('\ufeffcafé', 'utf16le')],
    ['text/plain; charset=klingon', Buffer.from('café')],
  ])('reads %s in its own encoding', async (type, body) => {
    expect(await read(await page(type, body))).toContain('café');
  });

  it.each([
    ['gzip', gzipSync('squeezed')],
    ['deflate', deflateSync('squeezed')],
    ['br', brotliCompressSync('squeezed')],
  ])('unpacks %s', async (coding, body) => {
    expect(await read(await page('text/plain', body, { 'content-encoding': coding }))).toMatch(/squeezed$/);
  });

  it('reads over TLS, and trusts no unknown certificate', async () => {
    const server = await httpsServer((_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end('safe'),
    );
    closing.push(server);
    const url = `https://secure.test:${server.port}/`;
    expect(await read(url, {}, webFetch({ ca: certificate }))).toMatch(/safe$/);
    expect(await read(`https://127.0.0.1:${server.port}/`, {}, webFetch({ ca: certificate }))).toMatch(/safe$/);
    expect(await failure(url)).toMatch(/^url_not_accessible: .*SELF_SIGNED/);
    expect(await failure(`https://other.test:${server.port}/`, {}, webFetch({ ca: certificate }))).toMatch(/ALTNAME/);
  });

  it('cuts at the token limit, not within a character, and says so', async () => {
    const base = await page('text/plain; charset=utf-8', '🙂'.repeat(1000));
    const text = await read(base, { maxContentTokens: 10 });
    expect(text).toContain(`${'🙂'.repeat(20)}\n\n[Cut here: 40 of 2000 characters are shown.]`);
    const odd = await read(await page('text/plain; charset=utf-8', `x${'🙂'.repeat(1000)}`), { maxContentTokens: 10 });
    expect(odd).toContain(`x${'🙂'.repeat(19)}\n\n[Cut here: 39 `);
  });

  it('keeps a long page below what is spilled to a file', async () => {
    const text = await read(await page('text/plain', 'x'.repeat(1_000_000)));
    expect(text.length).toBeGreaterThan(90_000);
    expect(text.length).toBeLessThan(100_000);
  });
});

describe('redirects', () => {
  it('are followed, and the last URL is told', async () => {
    const base = await serving((request, response) => {
      if (request.url === '/end') response.writeHead(200, { 'content-type': 'text/plain' }).end('arrived');
      else
        response
          .writeHead(request.url === '/start' ? 302 : 308, { location: request.url === '/start' ? 'next' : '/end#x' })
          .end();
    });
    expect(await read(`${base}/start`)).toBe(`URL: ${base}/end\n\narrived`);
  });

  it('end after five', async () => {
    let hops = 0;
    const base = await serving((_, response) => response.writeHead(302, { location: `/${++hops}` }).end());
    expect(await failure(base)).toMatch(/^url_not_accessible: More than 5 redirects/);
    expect(hops).toBe(6);
  });

  it.each([
    ['http://10.0.0.1/', 'url_not_allowed'],
    ['http://169.254.169.254/latest/meta-data/', 'url_not_allowed'],
    ['http://[::1]:1/', 'url_not_allowed'],
    ['http://0x0a000001/', 'url_not_allowed'],
    ['http://inside.example/', 'url_not_allowed'],
    ['http://blocked.test/', 'url_not_allowed'],
    ['file:///etc/passwd', 'url_not_allowed'],
    ['http://user:pw@page.test/', 'url_not_allowed'],
    ['http://', 'invalid_tool_input'],
  ])('to %s are refused', async (location, code) => {
    const base = await serving((_, response) => response.writeHead(302, { location }).end());
    const fetcher = webFetch({}, { 'inside.example': ['192.168.1.1'] });
    expect(await failure(base, { blockedDomains: ['blocked.test'] }, fetcher)).toMatch(new RegExp(`^${code}: `));
  });
});

describe('what is refused', () => {
  it('keeps to the allowed domains and their subdomains', async () => {
    const base = await page('text/plain', 'ok');
    const at = (host: string) => base.replace('page.test', host);
    const more = { allowedDomains: ['page.test'] };
    expect(await read(base, more)).toMatch(/ok$/);
    expect(await read(at('deep.sub.page.test'), more)).toMatch(/ok$/);
    for (const host of ['other.test', 'notpage.test', 'page.test.other.test', '127.0.0.1']) {
      expect(await failure(at(host), more)).toMatch(/^url_not_allowed: /);
    }
  });

  it('keeps away from the blocked domains and their subdomains', async () => {
    const base = await page('text/plain', 'ok');
    const more = { blockedDomains: ['bad.test'] };
    expect(await read(base, more)).toMatch(/ok$/);
    expect(await failure(base.replace('page', 'bad'), more)).toMatch(/^url_not_allowed: /);
    expect(await failure(base.replace('page', 'www.BAD'), more)).toMatch(/^url_not_allowed: /);
  });

  it.each([
    ['', 'invalid_tool_input'],
    ['page.test/x', 'invalid_tool_input'],
    ['/relative', 'invalid_tool_input'],
    ['ftp://page.test/', 'url_not_allowed'],
    ['http://user:pw@page.test/', 'url_not_allowed'],
    [`http://page.test/${'x'.repeat(3000)}`, 'url_too_long'],
    ['http://10.1.2.3/', 'url_not_allowed'],
    ['http://2852039166/', 'url_not_allowed'],
    ['http://no-such-name.example/', 'url_not_accessible'],
    ['http://page.test:1/', 'url_not_accessible'],
  ])('answers "%s" with %s', async (url, code) => {
    expect(await failure(url)).toMatch(new RegExp(`^${code}: .+`));
  });

  it.each([['application/pdf'], ['image/png'], ['image/svg+xml'], ['application/octet-stream'], ['video/mp4']])(
    'does not read %s, nor wait for its body',
    async (type) => {
      const base = await serving((_, response) => response.writeHead(200, { 'content-type': type }).write('begin'));
      expect(await failure(base)).toMatch(/^unsupported_content_type: /);
    },
  );

  it('does not read bytes that only their host calls nothing', async () => {
    expect(await failure(await page('', Buffer.from([1, 0, 2])))).toMatch(/^unsupported_content_type: /);
    expect(await failure(await page('text/plain', 'x', { 'content-encoding': 'rot13' }))).toMatch(/rot13/);
  });

  it.each([[404], [500], [304], [302]])('reports HTTP %i', async (status) => {
    const base = await serving((_, response) => response.writeHead(status).end());
    expect(await failure(base)).toBe(`url_not_accessible: ${new URL(base).host} answered HTTP ${status}.`);
  });

  it('reports a host that speaks no HTTP, hangs up, or breaks off', async () => {
    const answers = [
      'nonsense\r\n\r\n',
      '',
      'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nhalf',
      'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\nnot gzip',
      'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    ];
    const server = await tcpServer((socket) => socket.once('data', () => socket.end(answers.shift() ?? '')));
    closing.push(server);
    while (answers.length > 0) {
      expect(await failure(`http://page.test:${server.port}/`)).toMatch(/^url_not_accessible: /);
    }
  });
});

describe('limits', () => {
  it('stops reading a body at its limit', async () => {
    let stopped = false;
    const base = await serving((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
      };
      response.on('drain', more).on('close', () => (stopped = true));
      more();
    });
    const text = await read(base, { maxContentTokens: 1_000_000 }, webFetch({ maxBodyBytes: 100_000 }));
    expect(text).toMatch(/x\n\n\[The page is longer and was cut here\.\]$/);
    expect(text.length).toBeLessThan(101_000);
    await expect.poll(() => stopped).toBe(true);
  });

  it('stops unpacking a bomb at the same limit', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'x'));
    const base = await page('text/plain', bomb, { 'content-encoding': 'gzip' });
    const text = await read(base, { maxContentTokens: 1_000_000 }, webFetch({ maxBodyBytes: 100_000 }));
    expect(text.length).toBeLessThan(101_000);
  });

  it('keeps the event loop free while it converts megabytes of hostile markup', async () => {
    const base = await page('text/html', '<div><b><a href=x>'.repeat(100_000));
    let longest = 0;
    let last = performance.now();
    const pulse = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const answer = await webFetch({ timeLimitMs: 2_000 }).fetch(asked(base), never);
    clearInterval(pulse);
    expect(textOf(answer)).toMatch(/^(URL|unavailable|url_not_accessible): /);
    expect(longest).toBeLessThan(500);
  }, 15_000);

  it('converts pages two at a time and the others after them, and gives up on those that wait too long', async () => {
    const hostile = await page('text/html', '<div><b><a href=x>'.repeat(100_000));
    const honest = await page('text/html', '<p>short</p>');
    const slow = [1, 2].map(() => webFetch({ timeLimitMs: 1_500 }).fetch(asked(hostile), never));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const [patient, impatient] = await Promise.all([
      webFetch().fetch(asked(honest), never),
      webFetch({ timeLimitMs: 300 }).fetch(asked(honest), never),
    ]);
    expect(textOf(patient)).toMatch(/short$/);
    expect(textOf(impatient)).toContain('did not arrive within 0.3 seconds');
    await Promise.all(slow);
  }, 15_000);

  it('gives up in time, whichever part is slow', async () => {
    const quick = { timeLimitMs: 100 };
    const silent = await serving(() => undefined);
    const dripping = await serving((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const drip = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(drip));
    });
    const looping = await serving(
      (_, response) => void setTimeout(() => response.writeHead(302, { location: '/' }).end(), 40),
    );
    const unresolved = new OutboundWebFetch({
      ...quick,
      outbound: new Outbound({ allowList: new AllowList([]), resolve: () => new Promise(() => undefined) }),
    });
    const deaf = await tcpServer(() => undefined);
    closing.push(deaf);
    const late = 'url_not_accessible: The page did not arrive within 0.1 seconds.';
    expect(await failure(silent, {}, webFetch(quick))).toBe(late);
    expect(await failure(dripping, {}, webFetch(quick))).toBe(late);
    expect(await failure(looping, {}, webFetch(quick))).toBe(late);
    expect(await failure(`https://page.test:${deaf.port}/`, {}, webFetch(quick))).toBe(late);
    expect(await failure('http://slow.example/', {}, unresolved)).toBe(late);
  });

  it('ends at once when it is interrupted', async () => {
    const interrupt = new AbortController();
    const base = await serving(() => interrupt.abort());
    const answer = await webFetch().fetch(asked(base), interrupt.signal);
    expect([answer.isError, textOf(answer)]).toEqual([true, 'unavailable: The fetch was interrupted.']);
  });
});
