/** A thread that answers read requests from a connection of its own, one after the other. */
import { constants, platform, setPriority } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { CopyReader } from './copy-reader.ts';
import { MissingBlobs, MissingKey, type AnswerOf, type ReadRequest } from './read-request.ts';

export interface WorkerRequest {
  id: number;
  request: ReadRequest;
}

export type WorkerAnswer =
  | { id: number; kind: 'answer'; answer: unknown }
  | { id: number; kind: 'missing-key'; streamId: string; keyId: string }
  | { id: number; kind: 'missing-blobs'; blobKeys: readonly string[] }
  | { id: number; kind: 'failed'; message: string };

// Reads give way to folding and appends. Only Linux keeps a priority for each thread; elsewhere this would be the process's.
if (platform() === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const { path } = workerData as { path: string };
const db = new DatabaseSync(path, { readOnly: true });
db.exec('PRAGMA busy_timeout=5000');
const reader = new CopyReader(db);

parentPort?.on('message', ({ id, request }: WorkerRequest) => {
  const answer = answerTo(id, request);
  const isPage = answer.kind === 'answer' && request.kind === 'page';
  // Its bytes change hands and are not copied.
  parentPort?.postMessage(answer, isPage ? [(answer.answer as AnswerOf['page']).json.buffer as ArrayBuffer] : []);
});

function answerTo(id: number, request: ReadRequest): WorkerAnswer {
  try {
    return { id, kind: 'answer', answer: reader.answerAtOnce(request) };
  } catch (cause) {
    if (cause instanceof MissingKey) return { id, kind: 'missing-key', streamId: cause.streamId, keyId: cause.keyId };
    if (cause instanceof MissingBlobs) return { id, kind: 'missing-blobs', blobKeys: cause.blobKeys };
    return { id, kind: 'failed', message: String(cause) };
  }
}
