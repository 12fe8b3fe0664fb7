/**
 * What may enter the log of what a sandbox says came of a call.
 *
 * A command can answer in the daemon's place and write into its journal, so nothing is believed but the form: text and
 * images that models take, in an amount that a turn can bear. Fields that nobody asked for are left behind.
 */
import type { ToolResultContent } from '@manyhands/protocol';

export interface HandResult {
  isError: boolean;
  content: ToolResultContent[];
}

const maxBlocks = 100;
/** As the daemon keeps it; more than that is kept in a file of the sandbox. */
const maxTextChars = 100_000;
/** Of each end of a text that is longer. */
const previewChars = 10_000;
/** In base64, as models count it. */
const maxImageChars = 5_000_000;

/** How the base64 of each kind begins: a model refuses a request for good whose image is another than it says. */
const imageBeginnings: Record<string, RegExp> = {
  'image/png': /^iVBORw0KGgo/,
  'image/jpeg': /^\/9j\//,
  'image/gif': /^R0lGOD[dl]h/,
  'image/webp': /^UklGR.{7}RUJQ/,
};
const foreignToBase64 = /[^A-Za-z0-9+/]/;
const padding = /={1,2}$/;

/** null for what is no result at all; one that a model could not take becomes an error that says so. */
export function handResult(isError: unknown, content: unknown): HandResult | null {
  if (typeof isError !== 'boolean' || !Array.isArray(content)) return null;
  if (content.length > maxBlocks) return refused(`has more than ${maxBlocks} parts`);
  const blocks = content.map(acceptedBlock);
  const accepted = blocks.filter((block) => block !== null);
  if (accepted.length < blocks.length) return refused('has parts that are neither text nor an image');
  return { isError, content: withinLimit(accepted.filter((block) => block.type !== 'text' || block.text !== '')) };
}

type AcceptedBlock = ToolResultContent & { type: 'text' | 'image' };

function acceptedBlock(value: unknown): AcceptedBlock | null {
  const { type, text, source } = fieldsOf(value);
  // Half a character is nothing that a model's provider takes.
  if (type === 'text') return typeof text === 'string' ? { type, text: text.toWellFormed() } : null;
  if (type !== 'image') return null;
  const { type: encoding, media_type, data } = fieldsOf(source);
  if (encoding !== 'base64' || typeof media_type !== 'string' || typeof data !== 'string') return null;
  if (!Object.hasOwn(imageBeginnings, media_type) || data.length > maxImageChars) return null;
  if (!imageBeginnings[media_type]?.test(data) || !isBase64(data)) return null;
  return { type, source: { type: encoding, media_type, data } };
}

/** By a search for what does not belong, because an expression for the whole would run out of stack on a large one. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && !foreignToBase64.test(text.replace(padding, ''));
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** All texts together, because a model reads them all. */
function withinLimit(blocks: AcceptedBlock[]): AcceptedBlock[] {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const chars = texts.reduce((sum, { length }) => sum + length, 0);
  if (chars <= maxTextChars) return blocks;
  return [{ type: 'text', text: preview(texts.join('\n')) }, ...blocks.filter(({ type }) => type === 'image')];
}

function preview(text: string): string {
  return [
    `[result of ${text.length} characters, more than can be kept; its beginning and end follow]`,
    text.slice(0, previewChars).toWellFormed(),
    `[... ${text.length - 2 * previewChars} characters left out ...]`,
    text.slice(-previewChars).toWellFormed(),
  ].join('\n');
}

function refused(problem: string): HandResult {
  return { isError: true, content: [{ type: 'text', text: `The sandbox answered with a result that ${problem}.` }] };
}
