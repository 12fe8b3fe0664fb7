import { Worker } from 'node:worker_threads';
import { TopicError } from '@manyhands/ports';
import type { LogAnswers, LogReply, LogRequest, LogThreadData } from './log-thread-protocol.ts';

/** A failure of the log, with what the file holds now when the writer knows it. */
export class LogThreadError extends TopicError {
  readonly ends: number[] | null;
  constructor(code: TopicError['code'], message: string, ends: number[] | null) {
    super(code, message);
    this.ends = ends;
  }
}

interface Waiting {
  kind: LogRequest['kind'];
  resolve: (answer: never) => void;
  reject: (error: TopicError) => void;
}

/** The main thread's end of a thread of the log. */
export class LogThread {
  readonly #worker: Worker;
  readonly #waiting: Waiting[] = [];
  /** Resolves when the thread is gone, whatever the reason. */
  readonly ended: Promise<void>;
  #dead = false;

  private constructor(data: LogThreadData) {
    this.#worker = startWorker(data);
    this.#worker.on('message', (reply: LogReply) => this.#settle(reply));
    this.#worker.on('error', (error: Error) => this.#die(`The log's thread failed: ${error.message}`));
    this.ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#die("The log's thread has ended.");
        resolve();
      });
    });
  }

  /** Starts the thread and opens the file; `opened` is the answer to that. */
  static async start(data: LogThreadData): Promise<{ thread: LogThread; opened: LogAnswers['open'] }> {
    const thread = new LogThread(data);
    try {
      return { thread, opened: await thread.call({ kind: 'open' }) };
    } catch (error) {
      await thread.#worker.terminate();
      throw error;
    }
  }

  /** Rejects with `TopicError`. A batch's buffer is transferred, and comes back with the answer. */
  call<R extends LogRequest>(request: R): Promise<LogAnswers[R['kind']]> {
    if (this.#dead) return Promise.reject(new TopicError('closed', "The log's thread has ended."));
    return new Promise<LogAnswers[R['kind']]>((resolve, reject) => {
      this.#waiting.push({ kind: request.kind, resolve, reject });
      this.#worker.postMessage(request, request.kind === 'append' ? [request.batch.buffer] : []);
    });
  }

  /** Answers what was asked before, closes the file and ends the thread. */
  async stop(): Promise<void> {
    if (!this.#dead) await this.call({ kind: 'close' });
    await this.#worker.terminate();
  }

  #settle(reply: LogReply): void {
    const waiting = this.#waiting.shift() as Waiting;
    if (reply.ok) waiting.resolve(reply.answer as never);
    else waiting.reject(new LogThreadError(reply.code, reply.message, reply.ends));
  }

  #die(message: string): void {
    this.#dead = true;
    for (const { kind, reject } of this.#waiting.splice(0))
      reject(new TopicError(kind === 'append' ? 'unknown-outcome' : 'closed', message));
  }
}

function startWorker(workerData: LogThreadData): Worker {
  const fromSource = import.meta.url.endsWith('.ts');
  return new Worker(new URL(fromSource ? './log-worker.ts' : './log-worker.js', import.meta.url), {
    workerData,
    name: `log-${workerData.role}`,
    ...(fromSource && { execArgv: ['--conditions=@manyhands/source'] }),
  });
}
