/** Logs that are refused, beside the write-ahead log of a process that was killed: every byte stays where it is. */
import { createHash, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogLayout } from './log-layout.ts';
import { LogWriter } from './log-writer.ts';
import { pack } from './packed-messages.ts';

const layout: LogLayout = [
  { topic: 'commits', partitions: 2, retention: { kind: 'for-ever' } },
  { topic: 'keys', partitions: 1, retention: { kind: 'latest-per-key' } },
];

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'log-'));
  file = path.join(directory, 'log.db');
});
afterEach(() => rmSync(directory, { recursive: true }));

const wal = () => `${file}-wal`;

/** A log whose process was killed: a part is in the file, the newest part in the write-ahead log. */
function killedLog(change: (database: DatabaseSync) => void = () => undefined): void {
  const place = path.join(directory, 'alive');
  mkdirSync(place);
  const alive = path.join(place, 'log.db');
  const batch = (values: number) =>
    pack(Array.from({ length: values }, () => ({ partition: 0, key: 'a', value: randomBytes(1_000) })));
  const earlier = new LogWriter(alive, layout);
  earlier.append(batch(500));
  earlier.close();
  const writer = new LogWriter(alive, layout);
  writer.append(batch(20));
  const other = new DatabaseSync(alive);
  change(other);
  for (const suffix of ['', '-wal', '-shm']) copyFileSync(alive + suffix, file + suffix);
  other.close();
  writer.close();
  rmSync(place, { recursive: true });
  expect(statSync(wal()).size).toBeGreaterThan(20_000);
}

function hashes(): Record<string, string> {
  const names = readdirSync(directory).filter((name) => !name.endsWith('-shm'));
  const hash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(path.join(directory, name)))
      .digest('hex');
  return Object.fromEntries(names.sort().map((name) => [name, hash(name)]));
}

const size = () => statSync(file).size;

function otherDatabase(): void {
  const other = path.join(directory, 'other.db');
  const database = new DatabaseSync(other);
  database.exec('CREATE TABLE something (id INTEGER)');
  database.close();
  renameSync(other, file);
}

describe('a log that is refused after its process was killed', { timeout: 60_000 }, () => {
  it.each<[string, () => void, RegExp]>([
    ['garbage of the same size', () => writeFileSync(file, randomBytes(size())), /is no database/],
    ['its first half', () => truncateSync(file, Math.floor(size() / 2)), /is cut after page \d+ of \d+/],
    ['its first page', () => truncateSync(file, 4_096), /is cut after page 1 of/],
    ['less than a header', () => truncateSync(file, 50), /is no database/],
    ['nothing', () => truncateSync(file, 0), /is empty/],
    [
      'a file with another header',
      () => writeFileSync(file, Buffer.concat([Buffer.alloc(100, 0x5a), readFileSync(file).subarray(100)])),
      /is no database/,
    ],
    ['another database', otherDatabase, /is no log of this program/],
  ])('is %s: it and the write-ahead log stay as they are', (_, damage, reason) => {
    killedLog();
    damage();
    const before = hashes();
    for (let n = 0; n < 2; n++) expect(() => new LogWriter(file, layout)).toThrow(reason);
    expect(hashes()).toEqual(before);
    expect(Object.keys(before)).toEqual(['log.db', 'log.db-wal']);
  });

  it.each<[string, string, RegExp]>([
    ['every partition', 'DELETE FROM partitions', /list of partitions/],
    ['a partition', 'DELETE FROM partitions WHERE id = 2', /partitions/],
    ['the table of a partition', 'DROP TABLE messages_1', /list of partitions/],
    ['the list of partitions', 'DROP TABLE partitions', /no such table: partitions/],
  ])('lost %s: it and the write-ahead log stay as they are', (_, sql, reason) => {
    killedLog((database) => database.exec(sql));
    const before = hashes();
    for (let n = 0; n < 2; n++) expect(() => new LogWriter(file, layout)).toThrow(reason);
    expect(() => new LogWriter(file, layout)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^damaged|identity-mismatch$/) as string }) as Error,
    );
    expect(hashes()).toEqual(before);
  });

  it('has other partitions than are wanted: it and the write-ahead log stay as they are', () => {
    killedLog();
    const before = hashes();
    const other: LogLayout = [{ topic: 'commits', partitions: 3, retention: { kind: 'for-ever' } }];
    expect(() => new LogWriter(file, other)).toThrow(/has 2 partitions/);
    expect(hashes()).toEqual(before);
  });

  it('is a directory', () => {
    mkdirSync(file);
    expect(() => new LogWriter(file, layout)).toThrow(/is no file/);
  });

  it('has pages in the write-ahead log only: it is whole', () => {
    killedLog();
    const writer = new LogWriter(file, layout);
    expect(writer.ends()).toEqual([520, 0, 0]);
    writer.close();
    expect(existsSync(wal())).toBe(false);
  });
});

describe('a log that is refused after it was closed', () => {
  it('gets no files beside it', () => {
    new LogWriter(file, layout).close();
    const database = new DatabaseSync(file);
    database.exec('DELETE FROM partitions');
    database.close();
    const before = readFileSync(file);
    expect(() => new LogWriter(file, layout)).toThrow(/list of partitions/);
    expect(readdirSync(directory)).toEqual(['log.db']);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});
