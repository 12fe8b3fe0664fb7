/** What an operator relies on: exit codes, signals, health and the demonstration. */
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../support/conditions.ts';
import { hangingTurn } from '../support/conversation.ts';
import { Platform } from '../support/platform.ts';
import { ServerProcess, type ServerOptions } from '../support/server-process.ts';

/** A run that is expected to end by itself: its exit code and what it printed. */
async function runToEnd(options: ServerOptions): Promise<{ code: number | null; output: string }> {
  const server = await ServerProcess.prepare(options);
  const child = server.spawn();
  const [code] = (await once(child, 'close')) as [number | null];
  if (!options.dataDirectory) await server.remove();
  return { code, output: server.output };
}

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'manyhands-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return directory;
}

describe('the server as a process', () => {
  const platform = new Platform();
  beforeAll(() => platform.start({}));
  afterAll(() => platform.close());

  it('ends with 4 when the port is taken', async () => {
    const port = new URL(platform.server.url).port;
    const { code, output } = await runToEnd({ env: { PORT: port } });
    expect(code).toBe(4);
    expect(output).toContain(port);
    expect((await platform.client.beta.sessions.list()).data).toBeInstanceOf(Array);
  });

  it('ends with 3 when another process uses the data directory, which is not harmed', async () => {
    const conversation = await platform.session();
    const { code, output } = await runToEnd({ dataDirectory: platform.server.dataDirectory });
    expect(code).toBe(3);
    expect(output).toContain(platform.server.dataDirectory);
    expect((await conversation.play([[{ text: 'Unharmed.' }]])).stop_reason.type).toBe('end_turn');
    await platform.checkHistories();
  });

  it('ends with 2 and names every setting that is wrong', async () => {
    const env = {
      PORT: 'eighty',
      MANYHANDS_API_KEY: 'short',
      ANTHROPIC_BASE_URL: 'ftp://model',
      MANYHANDS_LOG_LEVEL: 'shout',
      MANYHANDS_DRAIN_SECONDS: '0',
      MANYHANDS_MAX_OPEN_STREAMS: '-1',
      MANYHANDS_EGRESS_ALLOW: '10.0.0.0/8, not a host',
    };
    const { code, output } = await runToEnd({ env });
    expect(code).toBe(2);
    for (const key of Object.keys(env)) expect(output).toContain(key);
    expect(output).not.toContain('at file:');
    expect((await runToEnd({ args: ['--surprise'] })).code).toBe(2);
  });

  it('prints its help and ends', async () => {
    const { code, output } = await runToEnd({ args: ['--help'] });
    expect(code).toBe(0);
    for (const word of ['PORT', 'MANYHANDS_DATA_DIR', 'ANTHROPIC_API_KEY', '--demo']) expect(output).toContain(word);
    expect(output).not.toContain('ready');
  });

  it('plays the demonstration without a model key, and ends', async () => {
    const { code, output } = await runToEnd({ args: ['--demo'] });
    expect(code).toBe(0);
    expect(output).toContain('scripted model');
    expect(output).toMatch(/you .*[^]*tool +bash[^]*result[^]*hello\.txt[^]*agent[^]*idle +end_turn/);
    expect(output).toContain("from '@anthropic-ai/sdk'");
    expect(output).not.toMatch(/"level":"(error|fatal)"/);
  });

  it('makes its own API key at the first start, says it once, and keeps it', async () => {
    const dataDirectory = await newDirectory();
    const options = { dataDirectory, args: ['--demo'], env: { MANYHANDS_API_KEY: undefined } };
    const first = await runToEnd(options);
    const key = /mh-[A-Za-z0-9_-]{43}/.exec(first.output)?.[0];
    expect(key).toBeDefined();
    const second = await runToEnd(options);
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(second.output).not.toContain(key as string);
    expect(await readFile(path.join(dataDirectory, 'api.key'), 'utf8')).toContain(key as string);
  });

  it('tells its health without a key', async () => {
    const get = async (route: string) => fetch(platform.server.url + route);
    expect(await (await get('/livez')).json()).toEqual({ status: 'ok' });
    expect(await (await get('/readyz')).json()).toEqual({ status: 'ok' });
    const metrics = await (await get('/metrics')).text();
    expect(metrics).toMatch(/^# HELP /m);
    expect(metrics).toContain('http_streams_open');
    expect(metrics).not.toContain(platform.server.apiKey);
  });

  it('drains on SIGTERM: streams end, turns go on after the next start, and the code is 0', async () => {
    const conversation = await platform.session();
    const slow = { blocks: [{ text: 'word '.repeat(12) }], tokenDelayMs: 100, chunkChars: 5 };
    await conversation.start([slow, hangingTurn('Never asked for.')]);
    await conversation.stream.findType('span.model_request_start');
    expect(await platform.server.stop()).toBe(0);
    expect(await conversation.stream.ended).toBeUndefined();
    await conversation.stopRecording();
    await platform.server.start();
    await until('the turn to end', async () => (await conversation.session()).status === 'idle');
    expect(await conversation.answers()).toEqual(['word '.repeat(12)]);
    await platform.checkHistories();
  });

  it('does not wait for a model that says nothing longer than it was told to', async () => {
    const conversation = await platform.session({ record: false });
    const short = await ServerProcess.start({
      modelUrl: platform.model.baseUrl,
      env: { MANYHANDS_DRAIN_SECONDS: '1' },
    });
    onTestFinished(() => short.remove());
    const client = short.client();
    const environment = await client.beta.environments.create({ name: 'drained' });
    const agent = await client.beta.agents.create({ name: 'x', model: 'claude-sonnet-5' });
    const initial = { type: 'user.message' as const, content: [{ type: 'text' as const, text: silence() }] };
    await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id, initial_events: [initial] });
    await until('the model to be asked', () => Promise.resolve(platform.model.requests.requests('silence').length));
    expect(await short.stop()).toBe(0);
    expect((await conversation.session()).status).toBe('idle');
  });
});

describe('a data directory that is damaged', () => {
  let original: string;
  beforeAll(async () => {
    original = await mkdtemp(path.join(tmpdir(), 'manyhands-test-'));
    expect((await runToEnd({ dataDirectory: original, args: ['--demo'] })).code).toBe(0);
  });
  afterAll(() => rm(original, { recursive: true, force: true }));

  const damages: Record<string, (directory: string) => Promise<void>> = {
    'a log that is empty': (directory) => truncate(path.join(directory, 'log.db'), 0),
    'a log that is cut': async (directory) => truncate(path.join(directory, 'log.db'), 5_000),
    'a log that is something else': (directory) =>
      writeFile(path.join(directory, 'log.db'), 'not a database '.repeat(1_000)),
    'a log whose header is overwritten': async (directory) => {
      const file = path.join(directory, 'log.db');
      await writeFile(file, Buffer.concat([Buffer.alloc(4_096, 0x5a), (await readFile(file)).subarray(4_096)]));
    },
    'no log beside what was made after it': (directory) => rm(path.join(directory, 'log.db')),
    'a log that is a directory': async (directory) => {
      await rm(path.join(directory, 'log.db'));
      await mkdir(path.join(directory, 'log.db'));
    },
    'a copy that is a directory': async (directory) => {
      await rm(path.join(directory, 'copy.db'));
      await mkdir(path.join(directory, 'copy.db'));
    },
    'the log of another directory': async (directory) => {
      await runToEnd({ dataDirectory: `${directory}-other`, args: ['--demo'] });
      await cp(path.join(`${directory}-other`, 'log.db'), path.join(directory, 'log.db'));
      await rm(`${directory}-other`, { recursive: true });
    },
    'the key of another directory': (directory) =>
      writeFile(path.join(directory, 'key-encryption.key'), Buffer.alloc(32, 7)),
    'a key file that is cut': (directory) => truncate(path.join(directory, 'key-encryption.key'), 7),
    'no key file beside a log': (directory) => rm(path.join(directory, 'key-encryption.key')),
  };

  it.each(Object.entries(damages))('has %s: the code is 5, and nothing on the disk is changed', async (_, damage) => {
    const directory = await newDirectory();
    await copyOf(original, directory);
    await damage(directory);
    const before = await contentsOf(directory);
    const { code, output } = await runToEnd({ dataDirectory: directory });
    expect(code, output).toBe(5);
    expect(output).toMatch(/^manyhands: .*/m);
    expect(await contentsOf(directory)).toEqual(before);
  });

  it('lost a message of the log, found when the copy is folded again: the code is 5, with one line', async () => {
    const directory = await newDirectory();
    await copyOf(original, directory);
    await rm(path.join(directory, 'copy.db'));
    const sql = 'DELETE FROM messages_1 WHERE "offset" = 1';
    for (let table = 1; table <= 4; table++) changeDatabase(directory, 'log.db', sql.replace('_1', `_${table}`));
    const { code, output } = await runToEnd({ dataDirectory: directory });
    expect(code, output).toBe(5);
    expect(output).toMatch(/^manyhands: The log is damaged: message 1 of messages_\d is missing\.$/m);
    expect(output).not.toContain('    at ');
  });

  it.each<[string, (directory: string) => Promise<void>]>([
    ['is no database', (directory) => writeFile(path.join(directory, 'copy.db'), 'not a database '.repeat(1_000))],
    ['lost a table', async (directory) => changeDatabase(directory, 'copy.db', 'DROP TABLE erasures')],
  ])('only has a copy that %s: it is folded again from the log', async (_, damage) => {
    const directory = await newDirectory();
    await copyOf(original, directory);
    await damage(directory);
    const server = await ServerProcess.start({ dataDirectory: directory });
    onTestFinished(() => server.remove());
    expect((await server.client().beta.sessions.list()).data).toHaveLength(1);
  });
});

function changeDatabase(directory: string, name: string, sql: string): void {
  const database = new DatabaseSync(path.join(directory, name));
  database.exec(sql);
  database.close();
}

/** Without the sandboxes: their sockets cannot be copied. */
function copyOf(original: string, directory: string): Promise<void> {
  return cp(original, directory, { recursive: true, filter: (source) => path.basename(source) !== 'hands' });
}

/** Hashes of every file but those that only say that a process was here. */
async function contentsOf(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/^lock|-shm$/.test(entry.name));
  const hashed = files.map(async ({ parentPath, name }) => {
    const file = path.join(parentPath, name);
    return [
      path.relative(directory, file),
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    ] as const;
  });
  return Object.fromEntries((await Promise.all(hashed)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function silence(): string {
  const turn = { blocks: [{ text: 'Late.' }], faults: [{ kind: 'silence', afterEvents: 0, times: 99 }] };
  return `#script ${JSON.stringify({ id: 'silence', turns: [turn] })}`;
}
