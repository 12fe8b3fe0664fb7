/**
 * Appends to the hand's journal, each line on disk before its promise resolves (E6). Lines that arrive while one is being
 * written share the next one.
 */
import { constants, open, type FileHandle } from 'node:fs/promises';
import { parseJournalLine, type HandJournalLine } from '@manyhands/core';

/** Where a line stands. */
export interface LinePlace {
  offset: number;
  bytes: number;
}

interface Waiting {
  line: Buffer;
  resolve: (place: LinePlace) => void;
  reject: (error: unknown) => void;
}

/** A write returns when what it wrote is on disk: one way to the disk, where write and sync would be two. */
const newAndDurable = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | constants.O_DSYNC;

export class Journal {
  readonly #file: FileHandle;
  #end = 0;
  #waiting: Waiting[] = [];
  #writing = false;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** A life of a hand begins with an empty journal: one that is there belongs to somebody else. */
  static async create(path: string): Promise<Journal> {
    return new Journal(await open(path, newAndDurable, 0o600));
  }

  /** Whether its file has lost its name: then nobody can ever ask after what is written there. */
  async isRemoved(): Promise<boolean> {
    return (await this.#file.stat()).nlink === 0;
  }

  append(line: HandJournalLine): Promise<LinePlace> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line: Buffer.from(`${JSON.stringify(line)}\n`), resolve, reject });
      if (!this.#writing) void this.#write();
    });
  }

  async read({ offset, bytes }: LinePlace): Promise<HandJournalLine | null> {
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(bytes), 0, bytes, offset);
    return parseJournalLine(buffer.toString('utf8', 0, bytesRead));
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        await this.#writeBatch(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = false;
  }

  async #writeBatch(batch: Waiting[]): Promise<void> {
    const bytes = Buffer.concat(batch.map(({ line }) => line));
    // At its place and not at the end of the file: what a failed write left there is overwritten by the next one.
    let written = 0;
    while (written < bytes.length)
      written += (await this.#file.write(bytes, written, bytes.length - written, this.#end + written)).bytesWritten;
    for (const { line, resolve } of batch) {
      resolve({ offset: this.#end, bytes: line.length });
      this.#end += line.length;
    }
  }
}
