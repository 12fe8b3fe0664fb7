/** A deletion that is killed anywhere is completed by the next start: nothing of the session can be read or found. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NotFoundError } from '@anthropic-ai/sdk';
import { script } from '@manyhands/adapter-scripted-model';
import { describe, expect, it } from 'vitest';
import { until } from '../support/conditions.ts';
import { message } from '../support/conversation.ts';
import { processesOf } from '../support/hand-files.ts';
import { useKillStage } from '../support/kill-stage.ts';
import { filesWith } from '../support/plaintext.ts';
import { newRandom } from '../support/random.ts';
import type { SessionDriver } from '../support/session-driver.ts';

const isLong = process.env['MANYHANDS_LONG'] === '1';
const dyingEraser = path.resolve(import.meta.dirname, '../support/dying-eraser.ts');
/** Steps that the short run dies at, spread over all of them. */
const shortSteps = 6;
const rounds = isLong ? 60 : 6;
const limitMs = 30 * 60_000;

interface Doomed {
  driver: SessionDriver;
  /** Words that stand in everything it said and did. */
  canary: string;
}

describe('a deletion that is killed', () => {
  const at = useKillStage();
  const random = newRandom('delete');

  it(
    'at each of its steps is completed by the next start',
    async () => {
      const { stage } = at;
      const probe = await doomed();
      await stage.server.stop();
      const { steps } = await eraseUntil(0, probe, []);
      expect(steps).toBeGreaterThan(6);
      const stride = isLong ? 1 : steps / shortSteps;
      const first = isLong ? 1 : random.integer(1, Math.floor(stride));
      const deaths: number[] = [];
      for (let step = first; step <= steps; step += stride) deaths.push(Math.floor(step));
      await stage.server.start();
      const all: Doomed[] = [probe];
      for (const _ of deaths) all.push(await doomed());
      expect(await stage.server.stop()).toBe(0);
      for (const [index, step] of deaths.entries()) {
        const victim = all[index + 1];
        if (!victim) continue;
        const earlier = all.slice(0, index + 1).map(({ driver }) => driver.id);
        expect((await eraseUntil(step, victim, earlier)).signal, `step ${step} of ${steps}`).toBe('SIGKILL');
      }
      await stage.server.start();
      // One that died before its first record was accepted was not deleted at all.
      await Promise.all(all.map(({ driver }) => deleteIfThere(driver)));
      await expectGone(all);
    },
    limitMs,
  );

  it(
    'at any moment is completed by the next start',
    async () => {
      const { stage } = at;
      for (let round = 0; round < rounds; round++) {
        const victims = await Promise.all([doomed(), doomed()]);
        const requests = victims.map(({ driver }) =>
          stage.server
            .client()
            .beta.sessions.delete(driver.id)
            .then(
              () => true,
              () => false,
            ),
        );
        await sleep(random.integer(0, 60));
        await stage.server.kill();
        const acknowledged = await Promise.all(requests);
        if (random.chance(0.3)) {
          const starting = stage.server.start().catch(() => undefined);
          await sleep(random.integer(300, 1_500));
          await stage.server.kill();
          await starting;
        }
        await stage.server.start();
        for (const [index, { driver }] of victims.entries()) {
          if (acknowledged[index]) expect(await isThere(driver)).toBe(false);
          else await deleteIfThere(driver);
        }
        await expectGone(victims);
      }
    },
    limitMs,
  );

  /** An idle session with contents of every kind: metadata, a message too large for a commit, tool results, files. */
  async function doomed(): Promise<Doomed> {
    const { stage } = at;
    const canary = `canary-${crypto.randomUUID()}`;
    const driver = await stage.session();
    await stage.client.write((api, options) =>
      api.beta.sessions.update(driver.id, { title: canary, metadata: { canary } }, options),
    );
    const command = `echo ${canary} | tee secret; echo ${canary} > /tmp/secret; echo ${canary} > ~/secret`;
    const large = `${canary} ${'and more of it '.repeat(50_000)}`;
    await driver.send(message(large));
    await driver.follower.find('idle', (event) => event.type === 'session.status_idle');
    const from = driver.follower.deliveries.length;
    await driver.send(message(script([[{ tool: 'bash', input: { command } }], [{ text: `I saw ${canary}` }]])));
    await driver.follower.find('idle', (event) => event.type === 'session.status_idle', from);
    await driver.follower.close();
    expect(filesWith(stage.hands.workspace(driver.id), [canary])).toHaveLength(1);
    return { driver, canary };
  }

  async function eraseUntil(step: number, { driver }: Doomed, earlier: string[]) {
    const child = spawn(
      process.execPath,
      [
        '--conditions=@manyhands/source',
        '--no-warnings',
        dyingEraser,
        ...[at.stage.server.dataDirectory, driver.id, String(step), ...earlier],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env['PATH'] } },
    );
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await once(child, 'close');
    if (child.signalCode === null) expect(child.exitCode).toBe(0);
    return { signal: child.signalCode, steps: Number(printed) };
  }

  async function isThere(driver: SessionDriver): Promise<boolean> {
    return at.stage.client.read(async (api) => {
      try {
        await api.beta.sessions.retrieve(driver.id);
        return true;
      } catch (error) {
        if (error instanceof NotFoundError) return false;
        throw error;
      }
    });
  }

  async function deleteIfThere(driver: SessionDriver): Promise<void> {
    if (await isThere(driver)) await at.stage.client.read((api) => api.beta.sessions.delete(driver.id));
  }

  async function expectGone(all: readonly Doomed[]): Promise<void> {
    const { stage } = at;
    for (const { driver } of all) {
      expect(await isThere(driver)).toBe(false);
      await expect(stage.history(driver)).rejects.toThrow(NotFoundError);
    }
    const words = all.map(({ canary }) => canary);
    await until('everything of them to be gone', () =>
      Promise.resolve(
        filesWith(stage.server.dataDirectory, words).length === 0 &&
          all.every(({ driver }) => !stage.hands.has(driver.id) && processesOf(driver.id).length === 0),
      ),
    );
  }
});
