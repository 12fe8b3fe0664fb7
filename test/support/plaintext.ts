/** Looks for words in every file below a directory, whatever the file is: what was erased must be in none. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The files that hold one of the words, and which. */
export function filesWith(directory: string, words: readonly string[]): string[] {
  return filesBelow(directory).flatMap((file) => {
    const bytes = contentOf(file);
    return words.filter((word) => bytes.includes(word)).map((word) => `${path.relative(directory, file)}: ${word}`);
  });
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
