/** What a model with bash can see of the machine, of the server and of other sessions: nothing. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { networkInterfaces } from 'node:os';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { script } from '@manyhands/adapter-scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usePlatform } from '../support/platform.ts';
import { probe, runInSandbox } from '../support/sandbox-probe.ts';

const canary = (place: string) => `canary-${place}-${crypto.randomUUID()}`;
const inEnvironment = canary('environment');
const inDataDirectory = canary('data');
const inWorkspace = canary('workspace');
const onTheMachine = canary('machine');

describe('a sandbox with the network on', () => {
  const platform = usePlatform({ env: { CANARY: inEnvironment } });
  /** A service of this machine that listens everywhere. */
  let service: Server;
  let needles: string[];

  beforeAll(async () => {
    service = createServer((_, response) => response.end(onTheMachine)).listen(0, '0.0.0.0');
    await once(service, 'listening');
    const { dataDirectory, apiKey } = platform.server;
    await writeFile(path.join(dataDirectory, 'canary.txt'), inDataDirectory);
    const neighbour = await platform.session();
    await runInSandbox(
      neighbour,
      `echo ${inWorkspace} | tee secret.txt > /tmp/secret.txt; export SECRET=${inWorkspace}`,
    );
    const files = await Promise.all(
      ['key-encryption.key', 'grants.key'].map((name) => readFile(path.join(dataDirectory, name))),
    );
    const keys = files.flatMap((bytes) => [bytes.toString('hex'), bytes.toString('base64')]);
    needles = [inEnvironment, inDataDirectory, inWorkspace, onTheMachine, apiKey, 'test-model-key', ...keys];
  });
  afterAll(() => service.close());

  const expectClean = (text: string) => expect(needles.filter((needle) => text.includes(needle))).toEqual([]);

  it('shows no secret in environments and processes', async () => {
    const conversation = await platform.session();
    const command =
      'env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/status 2>/dev/null | tr "\\0" "\\n"';
    const seen = await runInSandbox(conversation, command);
    expect(seen).toContain('HTTP_PROXY=');
    expectClean(seen);
    // Its own processes alone: the bash of the call, the daemon, and what started it.
    const count = await runInSandbox(conversation, 'ls -d /proc/[0-9]* | wc -l');
    expect(Number(count)).toBeLessThan(10);
  });

  it('shows no secret in any file', async () => {
    const conversation = await platform.session();
    const write = { tool: 'write', input: { file_path: 'needles.txt', content: `${needles.join('\n')}\n` } };
    const everywhere = 'grep -rlsaF -D skip -f needles.txt --exclude=needles.txt --exclude-dir={usr,sys,proc} / | head';
    await conversation.play([[write], [{ tool: 'bash', input: { command: everywhere } }], [{ text: 'Done.' }]]);
    const found = await runInSandbox(conversation, `echo "[$(${everywhere})]"`);
    expect(found.trim()).toBe('[]');
    // The search finds what is there.
    const planted = await runInSandbox(conversation, `head -1 needles.txt > /tmp/planted; echo "[$(${everywhere})]"`);
    expect(planted.trim()).toBe('[/tmp/planted]');
  });

  it('does not show the data directory or the home of whoever runs the server, by any path', async () => {
    const conversation = await platform.session();
    const { dataDirectory, pid } = platform.server;
    const places = [
      dataDirectory,
      path.dirname(import.meta.dirname),
      '/root',
      `/proc/${pid}`,
      '/proc/1/root',
      '/proc/1/cwd',
    ];
    const listing = await runInSandbox(conversation, `ls -A ${places.join(' ')} 2>&1; true`);
    expect(listing).not.toMatch(/log\.db|canary|e2e|\.bash_history|environ/);
    const sockets = await runInSandbox(
      conversation,
      'find / -xdev -type s 2>/dev/null; find /run -type s 2>/dev/null; true',
    );
    expect(sockets.split('\n').filter((line) => line.startsWith('/') && !/^\/run\/(egress|hand)\//.test(line))).toEqual(
      [],
    );
  });

  it('reaches nothing on this machine or beside it, by itself or through its proxy', async () => {
    const conversation = await platform.session();
    const { port } = service.address() as AddressInfo;
    const serverPort = Number(new URL(platform.server.url).port);
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const hosts = ['127.0.0.1', '127.1.2.3', '0.0.0.0', '::1', '::ffff:127.0.0.1', 'localhost'];
    const targets = [
      ...[...hosts, ...own.map(({ address }) => address)].map((host) => ({ host, port })),
      { host: '127.0.0.1', port: serverPort },
      { host: '2130706433', port: serverPort },
      { host: '0x7f000001', port: serverPort },
      { host: '169.254.169.254', port: 80 },
      { host: '100.100.100.200', port: 80 },
      { host: 'fd00:ec2::254', port: 80 },
      { host: '10.0.0.1', port: 80 },
      { host: '192.168.0.1', port: 80 },
      { host: '172.17.0.1', port: 80 },
    ];
    const reached = await probe(conversation, targets);
    expect(reached).toHaveLength(3 * targets.length);
    expectClean(JSON.stringify(reached));
    const through = reached.filter(({ way }) => way !== 'direct');
    expect(through.filter(({ answer }) => !/^HTTP\/1\.1 (403|400|502)/.test(answer))).toEqual([]);
    const direct = reached.filter(({ way, answer }) => way === 'direct' && answer.startsWith('HTTP/'));
    expect(direct).toEqual([]);
  });

  it('has no way to web_fetch what it may not reach itself', async () => {
    const conversation = await platform.session();
    const { port } = service.address() as AddressInfo;
    const urls = [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`, 'http://169.254.169.254/latest/meta-data/'];
    for (const url of urls) {
      await conversation.untilIdle(() =>
        conversation.say(
          `Read ${url} please. ${script([[{ tool: 'web_fetch', input: { url } }], [{ text: 'Done.' }]])}`,
        ),
      );
    }
    const results = await conversation.ofType('agent.tool_result');
    expect(results.map(({ is_error }) => is_error)).toEqual(urls.map(() => true));
    expectClean(JSON.stringify(results));
  });
});
