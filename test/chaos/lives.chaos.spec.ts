/** What one life of a server leaves to the next: half-made starts, half-sent requests, a damaged copy. */
import { createHash } from 'node:crypto';
import { copyFile, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { script } from '@manyhands/adapter-scripted-model';
import { describe, expect, it } from 'vitest';
import { message } from '../support/conversation.ts';
import { useKillStage } from '../support/kill-stage.ts';
import { builtinTools, modelId } from '../support/platform.ts';
import { newRandom } from '../support/random.ts';
import { ServerProcess } from '../support/server-process.ts';
import { SteadyClient } from '../support/steady-client.ts';

const isLong = process.env['MANYHANDS_LONG'] === '1';
const limitMs = 20 * 60_000;

describe('a server between its lives', () => {
  const at = useKillStage();
  const random = newRandom('lives');

  it(
    'does what was asked with an Idempotency-Key once, however often it was asked again',
    async () => {
      const { stage } = at;
      const { client } = stage;
      const done = new AbortController();
      const names: string[] = [];

      const ask = async (worker: number): Promise<void> => {
        for (let count = 0; !done.signal.aborted; count++) {
          const name = `asked-${worker}-${count}`;
          names.push(name);
          const environment = await client.write((api, o) => api.beta.environments.create({ name }, o));
          const agent = await client.write((api, o) =>
            api.beta.agents.create({ name, model: modelId, tools: builtinTools }, o),
          );
          await client.write((api, o) => api.beta.agents.update(agent.id, { system: 'two' }, o));
          const third = await client.write((api, o) => api.beta.agents.update(agent.id, { system: 'three' }, o));
          expect(third.version).toBe(3);
          const initial_events = [message(script([[{ text: `said ${name}` }]]))] as never;
          const session = await client.write((api, o) =>
            api.beta.sessions.create(
              { agent: agent.id, environment_id: environment.id, metadata: { name }, initial_events },
              o,
            ),
          );
          await client.write((api, o) => api.beta.sessions.update(session.id, { title: name }, o));
          await client.write((api, o) => api.beta.agents.archive(agent.id, {}, o));
        }
      };
      const workers = [0, 1, 2].map(ask);
      for (let kill = 0; kill < (isLong ? 60 : 8); kill++) {
        await sleep(random.integer(50, 1_000));
        await stage.restart();
      }
      done.abort();
      await Promise.all(workers);
      expect(client.repeated).toBeGreaterThan(0);

      const environments = await client.read((api) => collect(api.beta.environments.list({ limit: 100 })));
      const agents = await client.read((api) => collect(api.beta.agents.list({ limit: 100, include_archived: true })));
      const sessions = await client.read((api) => collect(api.beta.sessions.list({ limit: 100 })));
      const asked = (found: (string | undefined)[]) => found.filter((name) => name?.startsWith('asked-')).sort();
      names.sort();
      expect(asked(environments.map(({ name }) => name))).toEqual(names);
      expect(asked(agents.map(({ name }) => name))).toEqual(names);
      expect(asked(sessions.map(({ metadata }) => metadata['name']))).toEqual(names);
      for (const agent of agents.filter(({ name }) => name.startsWith('asked-'))) {
        expect(agent).toMatchObject({ version: 3, archived_at: expect.any(String) as string });
      }
      for (const session of sessions.filter(({ metadata }) => metadata['name'])) {
        expect(session.title).toBe(session.metadata['name']);
        const events = await client.read((api) => collect(api.beta.sessions.events.list(session.id)));
        expect(events.filter(({ type }) => type === 'user.message')).toHaveLength(1);
        expect(events.filter(({ type }) => type === 'session.updated')).toHaveLength(1);
      }
    },
    limitMs,
  );

  it(
    'starts where the first start was killed, whenever that was',
    async () => {
      for (let round = 0; round < (isLong ? 30 : 2); round++) {
        const server = await ServerProcess.prepare({ modelUrl: at.stage.model.baseUrl });
        for (let kill = 0; kill < 2; kill++) {
          const starting = server.start().catch(() => undefined);
          await sleep(random.integer(50, 1_500));
          await server.kill();
          await starting;
        }
        await server.start();
        const client = new SteadyClient(server);
        await client.write((api, options) => api.beta.environments.create({ name: 'first' }, options));
        await server.kill();
        await server.start();
        const environments = await client.read((api) => collect(api.beta.environments.list()));
        expect(environments.map(({ name }) => name)).toEqual(['first']);
        await server.remove();
      }
    },
    limitMs,
  );

  it(
    'answers the same from a copy that was removed, damaged or half written',
    async () => {
      const { stage } = at;
      const drivers = await Promise.all(Array.from({ length: 6 }, () => stage.session()));
      const turns = [[{ tool: 'bash', input: { command: 'seq 2000' } }], [{ text: 'word '.repeat(2_000) }]];
      for (const driver of drivers) {
        for (let count = 0; count < 3; count++) {
          const from = driver.follower.deliveries.length;
          await driver.send(message(script(turns)));
          await driver.follower.find('idle', (event) => event.type === 'session.status_idle', from);
        }
      }
      const histories = async (): Promise<string> => {
        const all = await Promise.all(drivers.map((driver) => stage.history(driver)));
        return createHash('sha256').update(JSON.stringify(all)).digest('hex');
      };
      const copy = path.join(stage.server.dataDirectory, 'copy.db');
      await stage.server.kill();
      await copyFile(copy, `${copy}.older`);
      await stage.server.start();
      const expected = await histories();
      for (const [name, damage] of Object.entries(damages)) {
        await stage.server.kill();
        await damage(copy);
        await stage.server.start();
        expect(await histories(), name).toBe(expected);
      }
    },
    limitMs,
  );
});

/** What may happen to the copy's file while no server is there. */
const damages: Record<string, (copy: string) => Promise<void>> = {
  removed: (copy) => rm(copy),
  'half as long': async (copy) => truncate(copy, Math.floor((await stat(copy)).size / 2)),
  emptied: (copy) => truncate(copy, 0),
  'something else': (copy) => writeFile(copy, 'no database at all\n'.repeat(1_000)),
  'overwritten in its midst': async (copy) => {
    const file = await open(copy, 'r+');
    const { size } = await file.stat();
    await file.write(Buffer.alloc(Math.floor(size / 4), 0x5a), 0, Math.floor(size / 4), Math.floor(size / 3));
    await file.close();
  },
  'without its write-ahead log': (copy) => rm(`${copy}-wal`, { force: true }),
  'with half of its write-ahead log': async (copy) => {
    const wal = await readFile(`${copy}-wal`).catch(() => Buffer.alloc(0));
    await writeFile(`${copy}-wal`, wal.subarray(0, Math.floor(wal.length / 2)));
  },
  older: async (copy) => {
    for (const suffix of ['-wal', '-shm']) await rm(copy + suffix, { force: true });
    await copyFile(`${copy}.older`, copy);
  },
};

async function collect<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of pages) all.push(one);
  return all;
}
