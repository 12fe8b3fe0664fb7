/** Proxies over real sockets in a directory of their own, with names that the spec resolves. */
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLogger, type Logger } from '@manyhands/ports';
import type { Networking } from '@manyhands/protocol';
import { AllowList } from '../allow-list.ts';
import { EgressProxy } from '../egress-proxy.ts';
import { Outbound, type OutboundOptions } from '../outbound.ts';
import type { ProxyLimits } from '../session-proxy.ts';
import { RawClient, type LocalServer } from './servers.ts';

export const unrestricted: Networking = { type: 'unrestricted' };
export const limited = (...allowed_hosts: string[]): Networking => ({
  type: 'limited',
  allowed_hosts,
  allow_mcp_servers: false,
  allow_package_managers: false,
});

export interface Setting extends Partial<Omit<OutboundOptions, 'allowList'>> {
  allow?: string[];
  names?: Record<string, string[]>;
  limits?: Partial<ProxyLimits>;
  logger?: Logger;
  directory?: string;
}

/** What one test has opened; `close` in its end. */
export class Bench {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'egress-'));
  readonly #closing: (() => Promise<void>)[] = [];

  async serving<T extends LocalServer>(starting: Promise<T>): Promise<T> {
    const server = await starting;
    this.#closing.push(() => server.close());
    return server;
  }

  proxy({
    allow = [],
    names = {},
    limits = {},
    logger = silentLogger,
    directory = this.directory,
    ...outbound
  }: Setting): EgressProxy {
    const proxy = new EgressProxy({
      directory,
      logger,
      limits,
      outbound: new Outbound({
        allowList: new AllowList(allow),
        resolve: async (host) => names[host] ?? Promise.reject(Object.assign(new Error(host), { code: 'ENOTFOUND' })),
        ...outbound,
      }),
    });
    this.#closing.push(() => proxy.closeAll());
    return proxy;
  }

  async opened(setting: Setting, networking: Networking = unrestricted) {
    const proxy = this.proxy(setting);
    const { socketPath } = await proxy.open('sesn_test', () => networking);
    return { proxy, socketPath };
  }

  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** What a client with `http_proxy` set sends. */
export function throughProxy(
  socketPath: string,
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const request = httpRequest({ socketPath, path: url, method, headers, agent: false }, resolve);
    request.on('error', reject);
    request.end(body);
  });
}

export async function connectAnswer(socketPath: string, authority: string): Promise<string> {
  return new RawClient(socketPath).send(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`).rest();
}
