/**
 * Worker threads with read-only connections to the copy, so that a page of large results never stops folding. A request
 * goes to the thread with the fewest open ones; a thread that died is replaced, and its requests fail.
 */
import { Worker } from 'node:worker_threads';
import { SessionLogError, type Logger } from '@manyhands/ports';
import type { KeyId, StreamId } from '@manyhands/protocol';
import { MissingKey, type AnswerOf, type ReadRequest, type Reads } from './read-request.ts';
import type { WorkerAnswer, WorkerRequest } from './reader-worker.ts';

interface Thread {
  worker: Worker;
  open: Map<number, { resolve: (answer: unknown) => void; reject: (cause: Error) => void }>;
}

/** More would only wait in the threads and hold memory here. */
const maxOpenRequests = 2_000;

export class ReaderPool implements Reads {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #threads: Thread[];
  #nextId = 1;
  #isClosed = false;

  constructor(path: string, threads: number, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    this.#threads = Array.from({ length: threads }, () => this.#start());
  }

  read<R extends ReadRequest>(request: R): Promise<AnswerOf[R['kind']]> {
    const thread = this.#threads.reduce((least, one) => (one.open.size < least.open.size ? one : least));
    if (thread.open.size >= maxOpenRequests || this.#isClosed) {
      return Promise.reject(new SessionLogError('unavailable', 'too many reads at once'));
    }
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      thread.open.set(id, { resolve: resolve as (answer: unknown) => void, reject });
      thread.worker.postMessage({ id, request } satisfies WorkerRequest);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  #start(): Thread {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./reader-worker.${extension}`, import.meta.url), {
      workerData: { path: this.#path },
      // From the sources the thread resolves the other libraries to theirs, also where the parent does it by other means.
      ...(extension === 'ts' && { execArgv: [...process.execArgv, '--conditions=@manyhands/source'] }),
    });
    const thread: Thread = { worker, open: new Map() };
    worker.unref();
    worker.on('message', (answer: WorkerAnswer) => settle(thread, answer));
    worker.on('error', (cause) => this.#logger.error({ cause: String(cause) }, 'a reader thread failed'));
    worker.on('exit', () => this.#replace(thread));
    return thread;
  }

  #replace(thread: Thread): void {
    for (const { reject } of thread.open.values()) reject(new SessionLogError('unavailable', 'a reader thread ended'));
    thread.open.clear();
    if (!this.#isClosed) this.#threads[this.#threads.indexOf(thread)] = this.#start();
  }
}

function settle(thread: Thread, answer: WorkerAnswer): void {
  const request = thread.open.get(answer.id);
  if (!request) return;
  thread.open.delete(answer.id);
  if (answer.kind === 'answer') request.resolve(answer.answer);
  else if (answer.kind === 'missing-key')
    request.reject(new MissingKey(answer.streamId as StreamId, answer.keyId as KeyId));
  else request.reject(new SessionLogError('stream-broken', answer.message));
}
