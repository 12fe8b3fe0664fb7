/**
 * The only way out of a sandbox without a network: a loopback port whose bytes go to the egress proxy's socket and back.
 * What is allowed is the proxy's business. The socket is looked up anew for every connection, so a proxy that was
 * restarted is found again.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Resolves with the port once it listens. */
export async function forwardEgress(socketPath: string, port: number): Promise<number> {
  // Half-open, because a client may have said all it has to say long before the answer is complete.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    join(client, connect({ path: socketPath, allowHalfOpen: true }));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function join(client: Socket, proxy: Socket): void {
  const end = (): void => {
    client.destroy();
    proxy.destroy();
  };
  for (const socket of [client, proxy]) socket.on('error', end);
  client.on('close', () => proxy.end());
  proxy.on('close', () => client.end());
  client.pipe(proxy).pipe(client);
}

/** Both spellings: programs do not agree on one. What is on this side of the wall is asked directly. */
export function proxyEnvironment(port: number): Record<string, string> {
  const url = `http://127.0.0.1:${port}`;
  const own = 'localhost,127.0.0.1,::1';
  return { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url, NO_PROXY: own, no_proxy: own };
}
