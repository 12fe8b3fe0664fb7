/** The proxy of one session: an HTTP/1.1 server that forwards plain requests and makes tunnels. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '@manyhands/ports';
import type { Networking } from '@manyhands/protocol';
import type { EgressCounters } from './counters.ts';
import { EgressError } from './egress-error.ts';
import { forward } from './forward.ts';
import { isHostAllowed } from './host-rules.ts';
import type { Outbound, Target } from './outbound.ts';
import { RefusalLog } from './refusal-log.ts';
import { parseAuthority } from './request-target.ts';
import { tunnel } from './tunnel.ts';

export interface ProxyLimits {
  /** Per session; connections above it are answered 503, and dropped when they are many more. */
  maxConnections: number;
  maxHeaderBytes: number;
  /** From the opening of the connection to the end of the header. */
  headerTimeoutMs: number;
  /** A connection on which nothing moves is closed. */
  idleTimeoutMs: number;
}

export interface SessionProxyDeps {
  sessionKey: string;
  networking: () => Promise<Networking>;
  outbound: Outbound;
  logger: Logger;
  counters: EgressCounters;
  limits: ProxyLimits;
}

/** So many connections above the limit get an answer that says why. */
const ANSWERED_ABOVE_LIMIT = 32;

export class SessionProxy {
  readonly #deps: SessionProxyDeps;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  readonly #refusals: RefusalLog;

  constructor(deps: SessionProxyDeps) {
    this.#deps = deps;
    this.#refusals = new RefusalLog(deps.logger, deps.sessionKey);
    this.#server = this.#makeServer(deps.limits);
  }

  listen(socketPath: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen(socketPath, () => {
      this.#server.off('error', reject);
      this.#server.on('error', (error) => this.#deps.logger.error({ err: error }, 'egress socket failed'));
      resolve();
    });
    return promise;
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    for (const socket of this.#connections) socket.destroy();
    await promise;
  }

  get openConnections(): number {
    return this.#connections.size;
  }

  #makeServer(limits: ProxyLimits): Server {
    const server = createServer({
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headerTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, limits.headerTimeoutMs / 2),
      // An upload may take long; a stalled one is ended by the idle timeout.
      requestTimeout: 0,
      insecureHTTPParser: false,
    });
    server.maxConnections = limits.maxConnections + ANSWERED_ABOVE_LIMIT;
    // Later than the host's side, which can still be answered.
    server.setTimeout(limits.idleTimeoutMs + 5_000);
    server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
    server.on('drop', () => void (this.#deps.counters.droppedConnections += 1));
    server.on('request', (request, response) => void this.#onRequest(request, response));
    server.on('connect', (request, socket, head) => void this.#onConnect(request, socket as Socket, head));
    return server;
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let target: Target | null = null;
    try {
      this.#refuseAboveLimit();
      await forward(request, response, {
        ...this.#deps.limits,
        connect: (wanted, signal) => {
          target = wanted;
          return this.#connect(wanted, signal);
        },
      });
    } catch (error) {
      if (request.socket.destroyed) return;
      const refusal = this.#record(error, { method: request.method ?? '', target });
      if (response.headersSent) response.destroy();
      else answer(response, refusal);
    }
  }

  async #onConnect(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    let target: Target | null = null;
    const clientGone = new AbortController();
    client.once('close', () => clientGone.abort());
    // Node hands the socket over without its own listeners: an error without a listener would end the process.
    client.on('error', () => client.destroy());
    try {
      this.#refuseAboveLimit();
      target = parseAuthority(request.url ?? '');
      const upstream = await this.#connect(target, clientGone.signal);
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      await tunnel(client, upstream, this.#deps.limits.idleTimeoutMs);
    } catch (error) {
      if (client.destroyed) return;
      client.setTimeout(this.#deps.limits.headerTimeoutMs, () => client.destroy());
      client.end(rawAnswer(this.#record(error, { method: 'CONNECT', target })));
      client.resume();
    }
  }

  async #connect(target: Target, signal: AbortSignal): Promise<Socket> {
    const networking = await this.#deps.networking().catch((error: unknown) => {
      this.#deps.logger.error({ err: error, session: this.#deps.sessionKey }, 'no networking policy, egress refused');
      throw new EgressError('policy_unavailable', "The environment's networking could not be read; try again.");
    });
    if (!isHostAllowed(networking, target.host)) {
      throw new EgressError('host_not_allowed', `${target.host} is not among the allowed hosts of this environment.`);
    }
    const socket = await this.#deps.outbound.connect(target, signal);
    this.#deps.counters.allowed += 1;
    return socket;
  }

  #refuseAboveLimit(): void {
    const { maxConnections } = this.#deps.limits;
    if (this.#connections.size <= maxConnections) return;
    throw new EgressError('too_many_connections', `More than ${maxConnections} connections are open at once.`);
  }

  #record(error: unknown, request: { method: string; target: Target | null }): EgressError {
    if (!(error instanceof EgressError)) {
      this.#deps.logger.error({ err: error, session: this.#deps.sessionKey }, 'egress failed');
      return new EgressError('upstream_failed', 'The proxy failed.');
    }
    this.#deps.counters.refused[error.code] += 1;
    this.#refusals.write(error, request);
    return error;
  }
}

/** Many clients show the status line of a proxy and nothing else, so the reason stands there too. */
function statusMessage({ code }: EgressError): string {
  return `Egress refused: ${code}`;
}

function answer(response: ServerResponse, error: EgressError): void {
  response.writeHead(error.status, statusMessage(error), answerFields(error));
  response.end(answerBody(error));
}

function rawAnswer(error: EgressError): string {
  const fields = Object.entries(answerFields(error)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${statusMessage(error)}\r\n${fields.join('')}\r\n${answerBody(error)}`;
}

function answerFields(error: EgressError) {
  return {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(Buffer.byteLength(answerBody(error))),
    'x-egress-refused': error.code,
    connection: 'close',
  };
}

function answerBody(error: EgressError): string {
  return `${error.code}: ${error.message}\n`;
}
