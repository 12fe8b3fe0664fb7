/** The last bytes of a command's output, where the mark that ends the command is looked for too. */

/** What the model sees of a command's output at most. */
export const maxOutputBytes = 100 * 1024;

const terminalCodes = new RegExp(String.raw`\u001b\[[0-9;?]*[ -/]*[@-~]`, 'g');

export class OutputTail {
  readonly #endMark: RegExp;
  #bytes = Buffer.alloc(0);
  #dropped = false;

  /** `nonce`: unguessable, so that no output ends the command by chance; followed by the exit status and a newline. */
  constructor(nonce: string) {
    this.#endMark = new RegExp(`${nonce}(\\d+)\\n`);
  }

  /** The command's exit status when these bytes bring its end; bytes after it belong to nobody. */
  push(chunk: Buffer): number | null {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    const mark = this.#findMark(chunk.length);
    if (mark) this.#bytes = this.#bytes.subarray(0, mark.start);
    this.#trim(mark === null);
    return mark?.status ?? null;
  }

  /** The output so far, without terminal codes and the newlines at its end. */
  text(): string {
    const text = this.#bytes.subarray(firstWholeCharacter(this.#bytes)).toString('utf8');
    const clean = text.replace(terminalCodes, '').replace(/\n+$/, '');
    return this.#dropped ? `[output truncated]\n${clean}` : clean;
  }

  #findMark(added: number): { start: number; status: number } | null {
    const start = Math.max(0, this.#bytes.length - added - markBytes);
    const match = this.#endMark.exec(this.#bytes.toString('latin1', start));
    return match ? { start: start + match.index, status: Number(match[1]) } : null;
  }

  /** While the command runs, the mark's beginning may stand at the end and must not push output out. */
  #trim(running: boolean): void {
    const keep = maxOutputBytes + (running ? markBytes : 0);
    if (this.#bytes.length <= keep) return;
    this.#bytes = this.#bytes.subarray(this.#bytes.length - keep);
    this.#dropped = true;
  }
}

/** The longest mark: a nonce of 40 characters, a status, a newline. */
const markBytes = 64;

function firstWholeCharacter(bytes: Buffer): number {
  let start = 0;
  while (start < 4 && start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return start;
}
