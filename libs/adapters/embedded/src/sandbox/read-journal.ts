import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { journaledExecution, type JournaledExecution } from '@manyhands/core';
import { isMissing } from '../durable-file.ts';

/** No result is longer; a line that is was not written by a daemon. */
const maxLineBytes = 16 * 1024 * 1024;

/**
 * What a hand wrote down about an execution. The sandbox could write there too: the file may be a link, a pipe or
 * endless, and is taken for an empty journal then.
 */
export async function readJournal(path: string, executionId: string): Promise<JournaledExecution> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ELOOP') return { state: 'unknown' };
    throw error;
  }
  try {
    if (!(await file.stat()).isFile()) return { state: 'unknown' };
    let found: JournaledExecution = { state: 'unknown' };
    for await (const line of lines(file)) {
      const said = journaledExecution([line], executionId);
      if (said.state === 'finished') return said;
      if (said.state === 'running') found = said;
    }
    return found;
  } finally {
    await file.close();
  }
}

async function* lines(file: FileHandle): AsyncGenerator<string> {
  const chunk = Buffer.alloc(256 * 1024);
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) return;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0 && end < bytesRead; end = chunk.indexOf(10, start)) {
      if (begunBytes <= maxLineBytes) yield Buffer.concat([...begun, chunk.subarray(start, end)]).toString('utf8');
      [begun, begunBytes, start] = [[], 0, end + 1];
    }
    begunBytes += bytesRead - start;
    if (begunBytes <= maxLineBytes) begun.push(Buffer.from(chunk.subarray(start, bytesRead)));
    else begun = [];
  }
}
