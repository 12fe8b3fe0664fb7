/** The log's file under its writer and reader, without threads: damage, full disks, erasure, age. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reopenLogForWriting } from './log-database.ts';
import type { LogLayout } from './log-layout.ts';
import { LogReader } from './log-reader.ts';
import { LogWriter } from './log-writer.ts';
import { pack, unpack } from './packed-messages.ts';
import type { LogMessage } from './packed-messages.ts';

const anHourMs = 3_600_000;
const layout: LogLayout = [
  { topic: 'commits', partitions: 2, retention: { kind: 'for-ever' } },
  { topic: 'keys', partitions: 1, retention: { kind: 'latest-per-key' } },
  { topic: 'wakes', partitions: 1, retention: { kind: 'for-a-time', ms: anHourMs } },
];
const [commits, keys, wakes] = [0, 2, 3];

let directory: string;
let file: string;
const opened: { close(): void }[] = [];
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'log-'));
  file = path.join(directory, 'log.db');
});
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
  rmSync(directory, { recursive: true });
});

function write(options?: ConstructorParameters<typeof LogWriter>[2]): LogWriter {
  const writer = new LogWriter(file, layout, options);
  opened.push(writer);
  return writer;
}

function append(writer: LogWriter, partition: number, key: string, value: string | Uint8Array | null): LogMessage {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return unpack(writer.append(pack([{ partition, key, value: bytes }])))[0] as LogMessage;
}

function readAll(partition: number, from = 0): LogMessage[] {
  const reader = new LogReader(file, layout);
  try {
    return unpack(reader.read({ partition, from, upTo: Number.MAX_SAFE_INTEGER, maxBytes: 100_000_000 }));
  } finally {
    reader.close();
  }
}

const texts = (messages: LogMessage[]) => messages.map(({ value }) => value && Buffer.from(value).toString());
const failure = (code: string) => expect.objectContaining({ name: 'LogFailure', code }) as Error;

describe('the file of the log', { timeout: 60_000 }, () => {
  it('goes on with the offsets and the time of the file', () => {
    const first = write({ now: () => 5_000 });
    append(first, commits, 'a', 'one');
    first.close();
    const second = write({ now: () => 3_000 });
    expect(append(second, commits, 'a', 'two')).toMatchObject({ offset: 1, appendedAt: 5_000 });
    expect(second.ends()).toEqual([2, 0, 0, 0]);
  });

  it('is for its owner alone', () => {
    append(write(), commits, 'a', 'one');
    for (const name of readdirSync(directory))
      expect([name, statSync(path.join(directory, name)).mode & 0o777]).toEqual([name, 0o600]);
  });

  it('is not disturbed by what a crash at its creation left', () => {
    writeFileSync(`${file}.new`, 'half');
    writeFileSync(`${file}.new-journal`, 'half');
    append(write(), commits, 'a', 'one');
    expect(readdirSync(directory).filter((name) => name.includes('.new'))).toEqual([]);
  });

  it('is whole after its process died with the write-ahead log in place', () => {
    const writer = write();
    for (let n = 0; n < 100; n++) append(writer, commits, 'a', String(n));
    const copy = path.join(directory, 'copy.db');
    for (const suffix of ['', '-wal']) writeFileSync(copy + suffix, readFileSync(file + suffix));
    const survivor = new LogWriter(copy, layout);
    expect(survivor.ends()).toEqual([100, 0, 0, 0]);
    survivor.close();
  });

  it('takes a topic that it has never seen', () => {
    write().close();
    const grown: LogLayout = [...layout, { topic: 'commits-02', partitions: 3, retention: { kind: 'for-ever' } }];
    const writer = new LogWriter(file, grown);
    expect(writer.ends()).toHaveLength(7);
    writer.close();
  });
});

describe('a damaged log', { timeout: 60_000 }, () => {
  function damage(how: (file: string) => void): Buffer {
    const writer = write();
    writer.append(
      pack(
        Array.from({ length: 500 }, (_, n) => ({
          partition: commits,
          key: 'a',
          value: Buffer.from(`${n} ${'x'.repeat(100)}`),
        })),
      ),
    );
    writer.close();
    how(file);
    return readFileSync(file);
  }

  it.each<[string, (file: string) => void]>([
    ['is empty', (file) => truncateSync(file, 0)],
    ['is no database', (file) => writeFileSync(file, 'not a database '.repeat(1_000))],
    ['lost its second half', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    [
      'is another database',
      (file) => {
        rmSync(file);
        const other = new DatabaseSync(file);
        other.exec('CREATE TABLE something (id INTEGER)');
        other.close();
      },
    ],
  ])('is refused and left as it is when it %s', (_, how) => {
    const before = damage(how);
    for (let n = 0; n < 2; n++) expect(() => write()).toThrow(failure('damaged'));
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('is not made anew beside its write-ahead log', () => {
    write().close();
    rmSync(file);
    writeFileSync(`${file}-wal`, 'the newest part');
    expect(() => write()).toThrow(failure('damaged'));
    expect(readdirSync(directory)).toEqual(['log.db-wal']);
  });

  it('is told at the first read that meets a malformed page', () => {
    damage((file) => {
      const bytes = readFileSync(file);
      const page = Math.floor(bytes.indexOf('250 xxx') / 4096);
      bytes.fill(0xff, page * 4096, (page + 1) * 4096);
      writeFileSync(file, bytes);
    });
    write();
    expect(() => readAll(commits)).toThrow(failure('damaged'));
  });

  it('is told when one bit of a value has flipped, and by then nothing of it is returned', () => {
    damage((file) => {
      const bytes = readFileSync(file);
      const at = bytes.indexOf('250 xxx') + 50;
      bytes[at] = (bytes[at] as number) ^ 1;
      writeFileSync(file, bytes);
    });
    write();
    expect(() => readAll(commits)).toThrow(/message 250 .* fails its checksum/);
    expect(readAll(commits, 251)).toHaveLength(249);
  });

  it('is told when a message is missing', () => {
    damage((file) => {
      const database = new DatabaseSync(file);
      database.exec('DELETE FROM messages_1 WHERE "offset" = 250');
      database.close();
    });
    write();
    expect(() => readAll(commits)).toThrow(failure('damaged'));
    expect(() => readAll(commits, 250)).toThrow(failure('out-of-range'));
  });
});

describe('a full disk', { timeout: 60_000 }, () => {
  it('refuses the append whole, keeps what was acknowledged, and goes on when there is room', () => {
    let pages = 1_000;
    const writer = write({
      reopen: () => {
        const log = reopenLogForWriting(file, layout);
        log.database.exec(`PRAGMA max_page_count = ${pages}`);
        return log;
      },
    });
    append(writer, commits, 'a', 'kept');
    pages = 100;
    writer.close();
    const large = new Uint8Array(1_000_000);
    const batch = () =>
      pack([
        { partition: commits, key: 'a', value: Buffer.from('lost') },
        { partition: keys, key: 'b', value: large },
      ]);
    for (let n = 0; n < 2; n++) expect(() => writer.append(batch())).toThrow(failure('unavailable'));
    expect(writer.ends()).toEqual([1, 0, 0, 0]);
    expect(texts(readAll(commits))).toEqual(['kept']);

    pages = 1_000;
    writer.close();
    writer.append(batch());
    expect(writer.ends()).toEqual([2, 0, 1, 0]);
    expect(texts(readAll(commits))).toEqual(['kept', 'lost']);
  });
});

describe('a topic that keeps the latest value of each key', { timeout: 60_000 }, () => {
  it('keeps the newest value and the tombstone, at their own offsets', () => {
    const writer = write();
    append(writer, keys, 'a', 'first');
    append(writer, keys, 'b', 'other');
    append(writer, keys, 'a', 'second');
    append(writer, keys, 'b', null);
    expect(readAll(keys).map(({ offset, key }) => [offset, key])).toEqual([
      [2, 'a'],
      [3, 'b'],
    ]);
    expect(texts(readAll(keys))).toEqual(['second', null]);
    append(writer, keys, 'b', null);
    expect(readAll(keys).map(({ offset }) => offset)).toEqual([2, 4]);
  });

  // With rows deleted instead of overwritten, this finds values in the gaps of pages.
  it('leaves no byte of an erased value in any file, whatever was written around it', () => {
    const writer = write();
    const live = new Map<string, string>();
    const erased: string[] = [];
    let random = 31_676;
    const next = (below: number) => (random = (random * 48_271) % 2_147_483_647) % below;
    let n = 0;
    const nextEntry = () => {
      const key = `sesn_01${next(400)}/dkey_01`;
      const before = live.get(key);
      if (before !== undefined) erased.push(before);
      const isTombstone = next(3) === 0;
      const marker = `<secret ${n++}>`;
      if (isTombstone) live.delete(key);
      else live.set(key, marker);
      // Every part of a value tells which one it is; some are too large for a page.
      const value = isTombstone ? null : Buffer.from(marker.repeat(next(200) === 0 ? 900 : 1 + next(60)));
      return { partition: keys, key, value };
    };
    for (let commit = 0; commit < 600; commit++) writer.append(pack(Array.from({ length: 10 }, nextEntry)));

    const found = foundSecrets();
    expect(erased.length).toBeGreaterThan(2_000);
    expect(erased.filter((value) => found.has(value))).toEqual([]);
    expect([...live.values()].filter((value) => !found.has(value))).toEqual([]);
  });

  it('erases at its opening what a killed process had erased in the write-ahead log only', () => {
    const writer = write();
    append(writer, keys, 'a', '<secret 1>');
    writer.close();
    const doomed = new DatabaseSync(file);
    doomed.exec('UPDATE messages_3 SET superseded = 1, value = zeroblob(length(value))');
    const asKilled = ['', '-wal'].map((suffix) => readFileSync(file + suffix));
    doomed.close();
    ['', '-wal'].forEach((suffix, n) => writeFileSync(file + suffix, asKilled[n] as Buffer));
    expect(foundSecrets()).toEqual(new Set(['<secret 1>']));
    write();
    expect(foundSecrets()).toEqual(new Set());
  });

  function foundSecrets(): Set<string> {
    const texts = readdirSync(directory).map((name) => readFileSync(path.join(directory, name), 'latin1'));
    return new Set(texts.flatMap((text) => text.match(/<secret \d+>/g) ?? []));
  }
});

describe('a topic that keeps messages for a time', { timeout: 60_000 }, () => {
  it('forgets old ones when others are written, and never its place', () => {
    let now = 1_000_000;
    const writer = write({ now: () => now });
    for (let n = 0; n < 10; n++) append(writer, wakes, 'a', String(n));
    now += anHourMs + 1;
    append(writer, wakes, 'a', 'later');
    const reader = new LogReader(file, layout);
    opened.push(reader);
    expect(reader.startOffset(wakes)).toBe(2);
    for (let n = 0; n < 4; n++) append(writer, wakes, 'a', 'later');
    expect(reader.startOffset(wakes)).toBe(10);
    expect(() => readAll(wakes, 9)).toThrow(failure('out-of-range'));

    now += anHourMs + 1;
    writer.close();
    expect(append(write({ now: () => now }), wakes, 'a', 'last')).toMatchObject({ offset: 15 });
  });
});
