/** A thread that answers read requests from a connection of its own, one after the other. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { CopyReader } from './copy-reader.ts';
import { MissingKey, type ReadRequest } from './read-request.ts';

export interface WorkerRequest {
  id: number;
  request: ReadRequest;
}

export type WorkerAnswer =
  | { id: number; kind: 'answer'; answer: unknown }
  | { id: number; kind: 'missing-key'; streamId: string; keyId: string }
  | { id: number; kind: 'failed'; message: string };

const { path } = workerData as { path: string };
const db = new DatabaseSync(path, { readOnly: true });
db.exec('PRAGMA busy_timeout=5000');
const reader = new CopyReader(db);

parentPort?.on('message', ({ id, request }: WorkerRequest) => {
  parentPort?.postMessage(answerTo(id, request));
});

function answerTo(id: number, request: ReadRequest): WorkerAnswer {
  try {
    return { id, kind: 'answer', answer: reader.answerAtOnce(request) };
  } catch (cause) {
    if (cause instanceof MissingKey) return { id, kind: 'missing-key', streamId: cause.streamId, keyId: cause.keyId };
    return { id, kind: 'failed', message: String(cause) };
  }
}
