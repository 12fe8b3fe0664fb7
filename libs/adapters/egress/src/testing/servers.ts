/** Real servers on loopback for the specs, and clients that speak to a proxy's socket byte by byte. */
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';

const fixture = (name: string) => readFileSync(new URL(`../testdata/${name}`, import.meta.url), 'utf8');

/** Self-signed for secure.test, its subdomains and 127.0.0.1. */
export const certificate = fixture('secure.test.cert.pem');
const key = fixture('secure.test.key.pem');

export interface LocalServer {
  port: number;
  close(): Promise<void>;
}

async function started(server: Server): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export const httpServer = (listener: RequestListener) => started(createHttpServer(listener));
export const httpsServer = (listener: RequestListener) =>
  started(createHttpsServer({ cert: certificate, key }, listener));
export const tcpServer = (listener: (socket: Socket) => void) =>
  started(createTcpServer({ allowHalfOpen: true }, listener));

/** One connection to a proxy's socket. */
export class RawClient {
  readonly socket: Socket;
  received = '';

  constructor(socketPath: string) {
    this.socket = connect({ path: socketPath, allowHalfOpen: true });
    this.socket.setEncoding('latin1');
    this.socket.on('data', (chunk: string) => (this.received += chunk));
    this.socket.on('error', () => this.socket.destroy());
  }

  send(text: string): this {
    this.socket.write(text);
    return this;
  }

  get hasEnded(): boolean {
    return this.socket.readableEnded || this.socket.closed;
  }

  async until(condition: (received: string) => boolean): Promise<string> {
    while (!condition(this.received)) {
      if (this.hasEnded) {
        throw new Error(`The connection ended after ${JSON.stringify(this.received)}.`);
      }
      await new Promise<void>((resolve) => {
        for (const event of ['data', 'end', 'close']) this.socket.once(event, () => setImmediate(resolve));
      });
    }
    return this.received;
  }

  /** All that comes until the other side has ended. */
  async rest(): Promise<string> {
    while (!this.hasEnded) {
      await new Promise<void>((resolve) => {
        for (const event of ['end', 'close']) this.socket.once(event, () => setImmediate(resolve));
      });
    }
    this.socket.end();
    return this.received;
  }
}
