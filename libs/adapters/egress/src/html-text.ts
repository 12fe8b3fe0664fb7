/** A page as text a model reads well: headings, lists, links, code and tables in the manner of Markdown. */
import { convert, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';

export interface PageText {
  title: string | null;
  text: string;
}

function heading(mark: string): FormatCallback {
  return (element, walk, builder) => {
    builder.openBlock({ leadingLineBreaks: 2 });
    builder.addLiteral(`${mark} `);
    walk(element.children, builder);
    builder.closeBlock({ trailingLineBreaks: 2 });
  };
}

/** `pageUrl` is what relative links are read against. */
function link(pageUrl: string): FormatCallback {
  return (element, walk, builder) => {
    const { href } = element.attribs as Record<string, string | undefined>;
    const target = href === undefined || href.startsWith('#') ? null : URL.parse(href, pageUrl);
    const isShown = target !== null && ['http:', 'https:', 'mailto:'].includes(target.protocol);
    if (isShown) builder.addLiteral('[');
    walk(element.children, builder);
    if (isShown) builder.addLiteral(`](${target.href})`);
  };
}

const codeBlock: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2, isPre: true });
  builder.addLiteral('```\n');
  walk(element.children, builder);
  builder.addLiteral('\n```');
  builder.closeBlock({ trailingLineBreaks: 2 });
};

const HEADINGS = [1, 2, 3, 4, 5, 6].map((level) => ({ tag: `h${level}`, formatter: heading('#'.repeat(level)) }));
const SKIPPED = [
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'canvas',
  'img',
  'head',
  'title',
  'select',
];

function optionsFor(url: string): HtmlToTextOptions {
  return {
    wordwrap: false,
    formatters: {
      ...Object.fromEntries(HEADINGS.map(({ tag, formatter }) => [tag, formatter])),
      markedLink: link(url),
      markedCode: codeBlock,
    },
    // Deeper nesting is no content, and the converter walks recursively.
    limits: { maxDepth: 200, ellipsis: '' },
    selectors: [
      ...HEADINGS.map(({ tag }) => ({ selector: tag, format: tag })),
      ...SKIPPED.map((selector) => ({ selector, format: 'skip' })),
      { selector: 'a', format: 'markedLink' },
      { selector: 'pre', format: 'markedCode' },
      { selector: 'ul', options: { itemPrefix: '- ' } },
      { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      ...['td', 'th'].map((selector) => ({ selector, format: 'inlineSurround', options: { suffix: ' | ' } })),
      ...['section', 'dl', 'dt', 'dd', 'figure', 'figcaption', 'details', 'summary'].map((selector) => ({
        selector,
        format: 'block',
      })),
    ],
  };
}

export function htmlToPageText(html: string, url: string): PageText {
  const [, title = ''] = /<title[^>]*>([^<]{1,1000})/i.exec(html.slice(0, 100_000)) ?? [];
  return {
    title: title.trim() === '' ? null : convert(title, { wordwrap: false }).replace(/\s+/g, ' ').trim(),
    text: convert(html, optionsFor(url)).trim(),
  };
}
