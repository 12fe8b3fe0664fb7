/**
 * What the bytes of the log's files say, read without SQLite. SQLite would take page 1 out of a write-ahead log that is
 * whole, find nothing wrong, and move the rest of it into a file that is not the log any more.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { LogFailure } from './log-failure.ts';

/** "MHLG" in SQLite's header: this database is a log of ours. */
export const applicationId = 0x4d_48_4c_47;
export const schemaVersion = 1;

const magic = 'SQLite format 3\0';
const headerBytes = 100;
/** SQLite's locks stand on the page that holds this byte, so it is never written. */
const lockByte = 0x40_00_00_00;
const walHeaderBytes = 32;
const frameHeaderBytes = 24;

/**
 * Answers the size of a page. Throws `LogFailure` when the file does not begin as a log does; every checkpoint writes
 * these bytes as they are.
 *
 * Nothing in this process may have the log open by then: closing a file takes away the locks that SQLite has on it, and
 * with them its defence against other processes.
 */
export function checkLogHeader(file: string): number {
  const broken = (why: string): LogFailure => new LogFailure('damaged', `The log ${file} is damaged: ${why}.`);
  if (!statSync(file).isFile()) throw broken('it is no file');
  const header = readHeader(file);
  if (header.length === 0) throw broken('it is empty');
  if (header.length < headerBytes || header.toString('latin1', 0, magic.length) !== magic)
    throw broken('it is no database');
  if (header.readUInt32BE(68) !== applicationId) throw broken('it is no log of this program');
  const version = header.readUInt32BE(60);
  if (version !== schemaVersion)
    throw new LogFailure('identity-mismatch', `The log ${file} has format ${version}, not ${schemaVersion}.`);
  const pageBytes = header.readUInt16BE(16);
  return pageBytes === 1 ? 65_536 : pageBytes;
}

/**
 * Throws when a page of the database is neither in the file nor in the write-ahead log. SQLite compares the size with
 * what is expected only where there is no write-ahead log.
 */
export function checkLogPages(file: string, pageBytes: number, pageCount: number): void {
  const inFile = Math.floor(statSync(file).size / pageBytes);
  if (inFile >= pageCount) return;
  const inWal = walPages(`${file}-wal`, pageBytes);
  const lockPage = Math.floor(lockByte / pageBytes) + 1;
  for (let page = inFile + 1; page <= pageCount; page++)
    if (!inWal.has(page) && page !== lockPage)
      throw new LogFailure('damaged', `The log ${file} is damaged: it is cut after page ${inFile} of ${pageCount}.`);
}

export function hasWriteAheadLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Pages with a frame of the write-ahead log's present run; frames of an earlier run carry other salts. */
function walPages(wal: string, pageBytes: number): Set<number> {
  const pages = new Set<number>();
  const handle = openSync(wal, 'r'); // SQLite has no locks on this file.
  try {
    const salts = Buffer.alloc(8);
    readSync(handle, salts, 0, 8, 16);
    const frame = Buffer.alloc(frameHeaderBytes);
    const end = fstatSync(handle).size;
    const frameBytes = frameHeaderBytes + pageBytes;
    for (let at = walHeaderBytes; at + frameBytes <= end; at += frameBytes) {
      readSync(handle, frame, 0, frameHeaderBytes, at);
      if (!frame.subarray(8, 16).equals(salts)) break;
      pages.add(frame.readUInt32BE(0));
    }
  } finally {
    closeSync(handle);
  }
  return pages;
}

function readHeader(file: string): Buffer {
  const handle = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(headerBytes);
    return bytes.subarray(0, readSync(handle, bytes, 0, headerBytes, 0));
  } finally {
    closeSync(handle);
  }
}
