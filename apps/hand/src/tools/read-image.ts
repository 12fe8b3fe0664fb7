import { open } from 'node:fs/promises';
import type { ToolAnswer } from '@manyhands/ports';
import { textAnswer } from './answer.ts';

/** Models take images of 5 MB in base64. */
const maxImageBytes = 3_750_000;

const signatures: { mediaType: string; matches: (head: Buffer) => boolean }[] = [
  { mediaType: 'image/png', matches: (head) => head.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n' },
  { mediaType: 'image/jpeg', matches: (head) => head.toString('latin1', 0, 3) === '\xff\xd8\xff' },
  { mediaType: 'image/gif', matches: (head) => /^GIF8[79]a/.test(head.toString('latin1', 0, 6)) },
  { mediaType: 'image/webp', matches: (head) => /^RIFF.{4}WEBP/s.test(head.toString('latin1', 0, 12)) },
];

/** A file that begins like an image, as an image block; null for any other, which is then read as text. */
export async function readImage(path: string, name: string): Promise<ToolAnswer | null> {
  if (!/\.(png|jpe?g|gif|webp)$/i.test(path)) return null;
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const { buffer: head } = await file.read(Buffer.alloc(12), 0, 12, 0);
    const mediaType = signatures.find(({ matches }) => matches(head))?.mediaType;
    if (!mediaType) return null;
    if (size > maxImageBytes)
      return textAnswer(`read: ${name} is an image of ${size} bytes, more than ${maxImageBytes}`, true);
    const data = (await file.readFile()).toString('base64');
    return { isError: false, content: [{ type: 'image', source: { type: 'base64', media_type: mediaType, data } }] };
  } finally {
    await file.close();
  }
}
