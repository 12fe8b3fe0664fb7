/** Entry of a thread of the log: the writer, or the reader. */
import { parentPort, workerData } from 'node:worker_threads';
import { logFailure } from './log-failure.ts';
import { LogReader } from './log-reader.ts';
import type { LogAnswers, LogReply, LogRequest, LogThreadData } from './log-thread-protocol.ts';
import { LogWriter } from './log-writer.ts';

const { role, file, layout } = workerData as LogThreadData;
const port = parentPort as NonNullable<typeof parentPort>;

let writer: LogWriter | null = null;
let reader: LogReader | null = null;

port.on('message', (request: LogRequest) => {
  const reply = replyTo(request);
  const moved = reply.ok && reply.answer !== null && typeof reply.answer === 'object' && 'buffer' in reply.answer;
  port.postMessage(reply, moved ? [(reply.answer as { buffer: ArrayBuffer }).buffer] : []);
  if (request.kind === 'close') port.close();
});

function replyTo(request: LogRequest): LogReply {
  try {
    return { ok: true, answer: answer(request) };
  } catch (error) {
    const { code, message } = logFailure(error, file);
    return { ok: false, code, message, ends: writer?.ends() ?? null };
  }
}

function answer(request: LogRequest): LogAnswers[LogRequest['kind']] {
  switch (request.kind) {
    case 'open':
      return open();
    case 'append':
      return (writer as LogWriter).append(request.batch);
    case 'read':
      return (reader as LogReader).read(request.read);
    case 'start-offset':
      return (reader as LogReader).startOffset(request.partition);
    case 'close':
      writer?.close();
      reader?.close();
      return null;
  }
}

function open(): LogAnswers['open'] {
  if (role === 'writer') {
    writer = new LogWriter(file, layout);
    return writer.found();
  }
  reader = new LogReader(file, layout);
  return null;
}
