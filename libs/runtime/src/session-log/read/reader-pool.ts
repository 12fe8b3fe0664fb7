/**
 * Worker threads with read-only connections to the copy, so that a page of large results never stops folding. A request
 * goes to the thread with the fewest open ones. A thread that died lets its requests fail and is started again by the
 * next one.
 */
import { Worker } from 'node:worker_threads';
import { SessionLogError, type Logger } from '@manyhands/ports';
import type { KeyId, StreamId } from '@manyhands/protocol';
import { MissingBlobs, MissingKey, type AnswerOf, type ReadRequest, type Reads } from './read-request.ts';
import type { WorkerAnswer, WorkerRequest } from './reader-worker.ts';

interface OpenRead {
  resolve: (answer: unknown) => void;
  reject: (cause: Error) => void;
}

interface Thread {
  worker: Worker | null;
  open: Map<number, OpenRead>;
}

/** More would only wait in the threads and hold memory here. */
const maxOpenReads = 2_000;

export class ReaderPool implements Reads {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #threads: Thread[];
  #nextId = 1;
  #isClosed = false;

  constructor(path: string, threads: number, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    this.#threads = Array.from({ length: threads }, () => ({ worker: null, open: new Map<number, OpenRead>() }));
    for (const thread of this.#threads) thread.worker = this.#start(thread);
  }

  read<R extends ReadRequest>(request: R): Promise<AnswerOf[R['kind']]> {
    const thread = this.#threads.reduce((least, one) => (one.open.size < least.open.size ? one : least));
    if (thread.open.size >= maxOpenReads)
      return Promise.reject(new SessionLogError('unavailable', 'too many reads at once'));
    if (this.#isClosed) return Promise.reject(new SessionLogError('closed', 'the session log is going down'));
    const worker = (thread.worker ??= this.#start(thread));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      thread.open.set(id, { resolve: resolve as OpenRead['resolve'], reject });
      worker.postMessage({ id, request } satisfies WorkerRequest);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { worker } of this.#threads) await worker?.terminate();
  }

  #start(thread: Thread): Worker {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./reader-worker.${extension}`, import.meta.url), {
      workerData: { path: this.#path },
      // From the sources the thread resolves the other libraries to theirs, also where the parent does it by other means.
      ...(extension === 'ts' && { execArgv: [...process.execArgv, '--conditions=@manyhands/source'] }),
    });
    worker.unref();
    worker.on('message', (answer: WorkerAnswer) => settle(thread, answer));
    worker.on('error', (cause) => this.#logger.error({ cause: String(cause) }, 'a reader thread failed'));
    worker.on('exit', () => {
      thread.worker = null;
      for (const { reject } of thread.open.values())
        reject(new SessionLogError('unavailable', 'a reader thread ended'));
      thread.open.clear();
    });
    return worker;
  }
}

function settle(thread: Thread, answer: WorkerAnswer): void {
  const read = thread.open.get(answer.id);
  if (!read) return;
  thread.open.delete(answer.id);
  if (answer.kind === 'answer') read.resolve(answer.answer);
  else if (answer.kind === 'missing-key')
    read.reject(new MissingKey(answer.streamId as StreamId, answer.keyId as KeyId));
  else if (answer.kind === 'missing-blobs') read.reject(new MissingBlobs(answer.blobKeys));
  else read.reject(new SessionLogError('stream-broken', answer.message));
}
