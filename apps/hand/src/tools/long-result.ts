/**
 * A result too long for the model is kept in a file of the sandbox, and the model is given its two ends and the path
 * (contract 4.2). The files stand outside the workspace, where they would turn up in searches and commits.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolAnswer } from '@manyhands/ports';

const maxResultChars = 100_000;
/** Of each end: together about 5,000 tokens. */
const previewChars = 10_000;

export async function keepLongResult(answer: ToolAnswer, folder: string, id: string): Promise<ToolAnswer> {
  const [block] = answer.content;
  if (block?.type !== 'text' || block.text.length <= maxResultChars) return answer;
  const path = join(folder, `${id}.txt`);
  const note = await store(path, folder, block.text);
  const text = [
    `[result of ${block.text.length} characters ${note}; its beginning and end follow]`,
    wholeCharacters(block.text.slice(0, previewChars)),
    `[... ${block.text.length - 2 * previewChars} characters left out ...]`,
    wholeCharacters(block.text.slice(-previewChars)),
  ].join('\n');
  return { ...answer, content: [{ type: 'text', text }] };
}

async function store(path: string, folder: string, text: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(path, text);
    return `written to ${path}`;
  } catch (error) {
    // A full disk, say. The model is better served with the preview than with nothing.
    return `not kept (${(error as NodeJS.ErrnoException).code ?? 'error'})`;
  }
}

/** A cut between the halves of a surrogate pair leaves a character that is none. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
