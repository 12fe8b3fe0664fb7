import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { handResult, journaledExecution, type JournaledExecution } from '@manyhands/core';

/** No result is longer; a line that is was not written by a daemon. */
const maxLineBytes = 16 * 1024 * 1024;
/** A line names its execution and says more; what is shorter needs no look. */
const minLineBytes = 30;
/** What stands behind it is not read: a command can make a file of any length. */
const maxJournalBytes = 256 * 1024 * 1024;
/** It is not there, is a link or a socket, or denies itself to its owner. */
const unreadableCodes = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EACCES', 'EPERM']);

/**
 * What a hand wrote down about an execution. The sandbox could write there too: the file may be a link, a pipe or
 * endless, and is taken for an empty journal then. So what it says is evidence, and what it does not say is none.
 */
export async function readJournal(path: string, executionId: string): Promise<JournaledExecution> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (unreadableCodes.has((error as NodeJS.ErrnoException).code ?? '')) return { state: 'unknown' };
    throw error;
  }
  try {
    if (!(await file.stat()).isFile()) return { state: 'unknown' };
    let found: JournaledExecution = { state: 'unknown' };
    for await (const line of lines(file)) {
      const said = journaledExecution([line], executionId);
      const result = said.state === 'finished' ? handResult(said.isError, said.content) : null;
      if (result) return { state: 'finished', ...result };
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
  for (let readBytes = 0; readBytes < maxJournalBytes;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) return;
    readBytes += bytesRead;
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0 && end < bytesRead; end = chunk.indexOf(10, start)) {
      const lineBytes = begunBytes + end - start;
      if (lineBytes >= minLineBytes && lineBytes <= maxLineBytes)
        yield Buffer.concat([...begun, chunk.subarray(start, end)]).toString('utf8');
      begun = [];
      [begunBytes, start] = [0, end + 1];
    }
    begunBytes += bytesRead - start;
    if (begunBytes <= maxLineBytes) begun.push(Buffer.from(chunk.subarray(start, bytesRead)));
    else begun = [];
  }
}
