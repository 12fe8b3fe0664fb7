/**
 * The proxies of all sessions, one Unix socket each: whoever can open the socket is the session, so no request carries an
 * identity that could be borrowed.
 *
 * - The socket stands alone in a directory of its own. What is mounted into a sandbox is that directory, best read-only:
 *   after a restart the socket is a new file at the same path, which a mount of the file itself would not show.
 * - `open` is idempotent; a socket file left by a killed process is replaced. The last policy given counts.
 * - The policy is asked for at each connection, so that an updated environment holds at once.
 */
import { createHash } from 'node:crypto';
import { chmod, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '@manyhands/ports';
import type { Networking } from '@manyhands/protocol';
import { newCounters, type EgressCounters } from './counters.ts';
import type { Outbound } from './outbound.ts';
import { SessionProxy, type ProxyLimits } from './session-proxy.ts';

export type NetworkingSource = () => Networking | Promise<Networking>;

export interface EgressProxyOptions {
  /** Where the sockets are; short, for the sake of MAX_SOCKET_PATH_BYTES. */
  directory: string;
  outbound: Outbound;
  logger: Logger;
  limits?: Partial<ProxyLimits>;
}

/** The kernel allows 107 bytes on Linux and 103 on macOS. */
const MAX_SOCKET_PATH_BYTES = 100;

const defaultLimits: ProxyLimits = {
  maxConnections: 256,
  maxHeaderBytes: 32 * 1024,
  headerTimeoutMs: 15_000,
  idleTimeoutMs: 5 * 60_000,
};

interface OpenSession {
  proxy: SessionProxy;
  networking: NetworkingSource;
}

export class EgressProxy {
  readonly counters: EgressCounters = newCounters();
  readonly #options: EgressProxyOptions;
  readonly #sessions = new Map<string, OpenSession>();
  /** Opening and closing of one session happen one after the other. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(options: EgressProxyOptions) {
    this.#options = options;
  }

  async open(sessionKey: string, networking: NetworkingSource): Promise<{ socketPath: string }> {
    const socketPath = this.#socketPath(sessionKey);
    await this.#inTurn(sessionKey, async () => {
      const known = this.#sessions.get(sessionKey);
      if (known) known.networking = networking;
      else this.#sessions.set(sessionKey, await this.#start(sessionKey, networking, socketPath));
    });
    return { socketPath };
  }

  /** Cuts the session's connections and removes its socket; resolves also when there is none. */
  async close(sessionKey: string): Promise<void> {
    await this.#inTurn(sessionKey, async () => {
      await this.#sessions.get(sessionKey)?.proxy.close();
      this.#sessions.delete(sessionKey);
      await rm(path.dirname(this.#socketPath(sessionKey)), { recursive: true, force: true });
    });
  }

  /** For the end of the process: connections are cut; the directories stay for the sandboxes that outlive it. */
  async closeAll(): Promise<void> {
    const keys = new Set([...this.#sessions.keys(), ...this.#turns.keys()]);
    await Promise.all(
      [...keys].map((key) =>
        this.#inTurn(key, async () => {
          await this.#sessions.get(key)?.proxy.close();
          this.#sessions.delete(key);
        }),
      ),
    );
  }

  get openConnections(): number {
    return [...this.#sessions.values()].reduce((sum, { proxy }) => sum + proxy.openConnections, 0);
  }

  async #start(sessionKey: string, networking: NetworkingSource, socketPath: string): Promise<OpenSession> {
    const { outbound, logger, limits } = this.#options;
    const proxy = new SessionProxy({
      sessionKey,
      networking: async () => session.networking(),
      outbound,
      logger,
      counters: this.counters,
      limits: { ...defaultLimits, ...limits },
    });
    const session: OpenSession = { proxy, networking };
    await listenAt(proxy, socketPath);
    return session;
  }

  #inTurn(sessionKey: string, work: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(sessionKey) ?? Promise.resolve();
    const turn = before.then(work, work); // What failed before was reported to its own caller.
    this.#turns.set(sessionKey, turn);
    const leave = () => {
      if (this.#turns.get(sessionKey) === turn) this.#turns.delete(sessionKey);
    };
    turn.then(leave, leave);
    return turn;
  }

  #socketPath(sessionKey: string): string {
    const name = createHash('sha256').update(sessionKey).digest('hex').slice(0, 16);
    const socketPath = path.join(this.#options.directory, name, 's');
    if (Buffer.byteLength(socketPath) > MAX_SOCKET_PATH_BYTES) {
      throw new Error(
        `The path ${socketPath} is longer than the ${MAX_SOCKET_PATH_BYTES} bytes that a socket may have.`,
      );
    }
    return socketPath;
  }
}

async function listenAt(proxy: SessionProxy, socketPath: string): Promise<void> {
  // A sandbox may run as another user; who may come here is decided by the directory above and by what is mounted.
  const directory = path.dirname(socketPath);
  await mkdir(path.dirname(directory), { recursive: true, mode: 0o700 });
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o755);
  await rm(socketPath, { force: true });
  await proxy.listen(socketPath);
  await chmod(socketPath, 0o666);
}
