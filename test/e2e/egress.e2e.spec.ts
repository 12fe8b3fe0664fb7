/** What an environment's networking and the operator's allow-list open, and that they open nothing else. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { script } from '@manyhands/adapter-scripted-model';
import { afterAll, describe, expect, it } from 'vitest';
import { message, textOf } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';
import { probe, type Reached } from '../support/sandbox-probe.ts';

const page = '<html><title>A page</title><body><p>Words of the allowed host.</p></body></html>';

describe('the only way out of a sandbox', () => {
  const servers: Server[] = [];
  let allowedPort: number;
  let otherPort: number;
  const serve = async (): Promise<number> => {
    const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page));
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const platform = usePlatform(async () => {
    [allowedPort, otherPort] = [await serve(), await serve()];
    return { env: { MANYHANDS_EGRESS_ALLOW: `localhost:${allowedPort},127.0.0.1:${allowedPort}` } };
  });
  afterAll(() => servers.forEach((server) => server.close()));

  const environment = async (allowedHosts: string[] | null) => {
    const networking = allowedHosts
      ? { type: 'limited' as const, allowed_hosts: allowedHosts }
      : { type: 'unrestricted' as const };
    const config = { type: 'cloud' as const, networking };
    return platform.client.beta.environments.create({ name: `environment-${crypto.randomUUID()}`, config });
  };
  const through = (reached: readonly Reached[], host: string, port: number) =>
    Object.fromEntries(
      reached.filter((one) => one.host === host && one.port === port).map(({ way, answer }) => [way, answer]),
    );

  it('opens what the operator allows, and only on that port', async () => {
    const { id } = await environment(null);
    const conversation = await platform.session({ environment_id: id });
    const reached = await probe(conversation, [
      { host: 'localhost', port: allowedPort },
      { host: '127.0.0.1', port: otherPort },
    ]);
    const allowed = through(reached, 'localhost', allowedPort);
    expect(allowed['get']).toMatch(/^HTTP\/1\.1 200[^]*Words of the allowed host/);
    expect(allowed['connect']).toMatch(/^HTTP\/1\.1 200/);
    expect(allowed['direct']).not.toContain('Words');
    const refused = through(reached, '127.0.0.1', otherPort);
    expect(refused['get']).toMatch(/^HTTP\/1\.1 403/);
    expect(refused['connect']).toMatch(/^HTTP\/1\.1 403/);
  });

  it('is narrowed by a limited environment, and follows its updates at once', async () => {
    const { id } = await environment(['localhost']);
    const conversation = await platform.session({ environment_id: id });
    const targets = [
      { host: 'localhost', port: allowedPort },
      { host: '127.0.0.1', port: allowedPort },
    ];
    const limited = await probe(conversation, targets);
    expect(through(limited, 'localhost', allowedPort)['get']).toMatch(/^HTTP\/1\.1 200/);
    expect(through(limited, '127.0.0.1', allowedPort)['get']).toMatch(/^HTTP\/1\.1 403/);
    expect(through(limited, '127.0.0.1', allowedPort)['connect']).toMatch(/^HTTP\/1\.1 403/);
    const networking = { type: 'limited' as const, allowed_hosts: ['*.example.com'] };
    await platform.client.beta.environments.update(id, { config: { type: 'cloud', networking } });
    const closed = await probe(conversation, targets);
    expect(through(closed, 'localhost', allowedPort)['get']).toMatch(/^HTTP\/1\.1 403/);
  });

  it('is not widened by a limited environment: its own list does not lift the address rules', async () => {
    const { id } = await environment(['localhost']);
    const conversation = await platform.session({ environment_id: id });
    const reached = await probe(conversation, [{ host: 'localhost', port: otherPort }]);
    expect(through(reached, 'localhost', otherPort)['get']).toMatch(/^HTTP\/1\.1 403/);
  });

  it('is shared by web_fetch, which takes its addresses from where the agent says', async () => {
    const sources = {
      user_input: 'all' as const,
      client_tool_results: 'none' as const,
      server_tool_results: 'none' as const,
    };
    const configs = [{ name: 'web_fetch' as const, url_sources: sources }];
    const agent = await platform.agent({ tools: [{ type: 'agent_toolset_20260401', configs }] });
    const conversation = await platform.session({ agent: agent.id });
    const url = `http://localhost:${allowedPort}/page`;
    // Escaped, the address stands in the script alone and not in what the user said.
    const fetchOf = (asked: string) => script([[{ tool: 'web_fetch', input: { url: asked } }], [{ text: 'Done.' }]]);
    const unsaid = fetchOf(`${url}-unsaid`).replaceAll('http:', '\\u0068ttp:');
    await conversation.untilIdle(() => conversation.send(message(`Read ${url} please. ${fetchOf(url)}`)));
    await conversation.untilIdle(() => conversation.send(message(unsaid)));
    const [fetched, refused] = await conversation.ofType('agent.tool_result');
    expect(textOf(fetched as object)).toContain('Words of the allowed host.');
    expect(fetched?.is_error ?? false).toBe(false);
    expect(refused?.is_error).toBe(true);
    expect(textOf(refused as object)).toContain('url_not_allowed');
  });
});
