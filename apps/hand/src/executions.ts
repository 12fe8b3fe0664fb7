/**
 * Every call this hand was ever asked for, by its id.
 *
 * - E6. An id is started at most once. It is in the journal before its tool is called, and its result is there before
 *   anybody is told.
 * - `bash` calls take turns, in the order they came. The rest run beside each other; who may run beside whom is the
 *   caller's business.
 * - An id cancelled before it was started is never started.
 */
import type { ToolAnswer } from '@manyhands/ports';
import type { Journal, LinePlace } from './journal.ts';
import type { Toolset } from './toolset.ts';
import { textAnswer } from './tools/answer.ts';
import { keepLongResult } from './tools/long-result.ts';
import type { HandToolName } from './tools/tool-input.ts';

export interface Call {
  id: string;
  name: HandToolName;
  input: Record<string, unknown>;
  timeoutMs?: number;
}

export interface Execution {
  readonly id: string;
  readonly isFinished: boolean;
  /** Resolves when it has finished. */
  readonly finished: Promise<void>;
  /** What it has written so far; empty for what does not write as it goes. */
  outputText(): string;
  /** Only of a finished one. */
  answer(): Promise<ToolAnswer>;
}

class Entry implements Execution {
  readonly id: string;
  readonly cancel = new AbortController();
  finished: Promise<void> = Promise.resolve();
  /** The line of the journal, or the answer itself where the journal could not take it. */
  kept: LinePlace | ToolAnswer | null = null;
  outputText = (): string => '';
  readonly #journal: Journal;

  constructor(id: string, journal: Journal) {
    this.id = id;
    this.#journal = journal;
  }

  get isFinished(): boolean {
    return this.kept !== null;
  }

  async answer(): Promise<ToolAnswer> {
    if (!this.kept) throw new Error(`execution ${this.id} has not finished`);
    if (!('offset' in this.kept)) return this.kept;
    const line = await this.#journal.read(this.kept);
    if (line?.kind === 'finished') return { isError: line.isError, content: line.content };
    return textAnswer('the result was lost: something in the sandbox changed the journal', true);
  }
}

/** For tools that have no limit of their own. */
const defaultTimeoutMs = 120_000;

export class Executions {
  readonly #journal: Journal;
  readonly #tools: Toolset;
  readonly #toolOutputDir: string;
  readonly #entries = new Map<string, Entry>();
  #unfinished = 0;
  #shellTurn: Promise<void> = Promise.resolve();
  /** Called whenever the last running execution has finished. */
  onQuiet: () => void = () => {};

  constructor(journal: Journal, tools: Toolset, toolOutputDir: string) {
    this.#journal = journal;
    this.#tools = tools;
    this.#toolOutputDir = toolOutputDir;
  }

  get busy(): boolean {
    return this.#unfinished > 0;
  }

  find(id: string): Execution | null {
    return this.#entries.get(id) ?? null;
  }

  list(): { id: string; state: 'running' | 'finished' }[] {
    return [...this.#entries.values()].map(({ id, isFinished }) => ({
      id,
      state: isFinished ? 'finished' : 'running',
    }));
  }

  /** The execution of this id, started now if there was none. */
  join(call: Call): Execution {
    return this.#entries.get(call.id) ?? this.#add(call.id, (entry) => this.#perform(call, entry));
  }

  /** Resolves when nothing of it runs any more. */
  async cancel(id: string): Promise<void> {
    const entry = this.#entries.get(id) ?? this.#add(id, () => Promise.resolve(neverStarted()));
    entry.cancel.abort('cancelled');
    await entry.finished;
  }

  #add(id: string, perform: (entry: Entry) => Promise<ToolAnswer>): Entry {
    const entry = new Entry(id, this.#journal);
    this.#entries.set(id, entry);
    this.#unfinished++;
    entry.finished = perform(entry).then((answer) => this.#finish(entry, answer));
    return entry;
  }

  async #perform(call: Call, entry: Entry): Promise<ToolAnswer> {
    if (call.name !== 'bash') return this.#start(call, entry);
    const before = this.#shellTurn;
    let done = (): void => {};
    this.#shellTurn = new Promise((resolve) => (done = resolve));
    await before;
    entry.outputText = () => this.#tools.outputText();
    try {
      return await this.#start(call, entry);
    } finally {
      entry.outputText = () => '';
      done();
    }
  }

  async #start(call: Call, entry: Entry): Promise<ToolAnswer> {
    const { signal } = entry.cancel;
    if (signal.aborted) return neverStarted();
    const { id, name, input } = call;
    try {
      await this.#journal.append({ kind: 'started', id, name, at: Date.now() });
    } catch (error) {
      return textAnswer(`${name}: not started, the journal cannot be written: ${String(error)}`, true);
    }
    const timeoutMs = call.timeoutMs ?? (name === 'bash' ? null : defaultTimeoutMs);
    const limit = timeoutMs === null ? null : timeLimit(entry.cancel, timeoutMs);
    try {
      return await keepLongResult(await this.#tools.run(name, input, signal), this.#toolOutputDir, id);
    } catch (error) {
      return textAnswer(`${name}: ${error instanceof Error ? error.message : String(error)}`, true);
    } finally {
      clearTimeout(limit ?? undefined);
    }
  }

  async #finish(entry: Entry, answer: ToolAnswer): Promise<void> {
    const { isError, content } = answer;
    try {
      entry.kept = await this.#journal.append({ kind: 'finished', id: entry.id, at: Date.now(), isError, content });
    } catch {
      // The disk is full, most likely by what the command did. Its result is told as long as this process lives;
      // should the hand die first, its end is unknown, which is no second start.
      entry.kept = answer;
    }
    this.#unfinished--;
    if (this.#unfinished === 0) this.onQuiet();
  }
}

function neverStarted(): ToolAnswer {
  return textAnswer('cancelled before it was started', true);
}

function timeLimit(cancel: AbortController, timeoutMs: number): NodeJS.Timeout {
  return setTimeout(() => cancel.abort(`timed out after ${timeoutMs}ms`), Math.min(timeoutMs, 2 ** 31 - 1));
}
