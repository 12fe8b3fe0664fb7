import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HandAddress } from '@manyhands/ports';

/** What a command in a sandbox can put in the daemon's place: it answers as it likes. */
export class FalseHand {
  readonly address: HandAddress;
  readonly #directory: string;
  readonly #server: Server;

  private constructor(directory: string, server: Server, socketPath: string) {
    this.#directory = directory;
    this.#server = server;
    this.address = { kind: 'unix', socketPath };
  }

  static async listen(answer: RequestListener): Promise<FalseHand> {
    const directory = mkdtempSync(join(tmpdir(), 'false-hand-'));
    const socketPath = join(directory, 'hand.sock');
    const server = createServer(answer);
    server.listen(socketPath);
    await once(server, 'listening');
    return new FalseHand(directory, server, socketPath);
  }

  static answering(status: number, body: string): Promise<FalseHand> {
    return FalseHand.listen((request, response) => {
      request.resume();
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body);
    });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
