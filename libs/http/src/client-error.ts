/** Answers to what is no HTTP request: there is no route and no reply, only the socket. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import { errorBody } from '@manyhands/protocol';

/** Node's codes that have a status of their own. */
const statusOf: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export function answerClientError(code: string, socket: Socket, requestId: string): void {
  if (code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = statusOf[code] ?? 400;
  const body = JSON.stringify(errorBody('invalid_request', 'This is not a valid HTTP request.', requestId));
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `request-id: ${requestId}`,
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
