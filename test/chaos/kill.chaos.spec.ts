/**
 * The server is killed at random moments while many sessions work, and started again. The model is in the test's process
 * and the commands are in sandboxes, so both live on; everything else has to come back from the data directory.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOf } from '../support/conversation.ts';
import { positionFaults } from '../support/event-follower.ts';
import { CommandCounts, processesOf } from '../support/hand-files.ts';
import { HistoryBook } from '../support/history-book.ts';
import { historyFaults, streamFaults } from '../support/history-checker.ts';
import { KillStage } from '../support/kill-stage.ts';
import { LogAudit, recordFaults } from '../support/log-audit.ts';
import { playFaults } from '../support/play-checker.ts';
import { newRandom, type Random } from '../support/random.ts';
import { customTool, randomRound, type Round } from '../support/rounds.ts';
import type { SessionDriver } from '../support/session-driver.ts';
import { until } from '../support/conditions.ts';
import type { SessionEvent } from '../support/stream-recorder.ts';

const isLong = process.env['MANYHANDS_LONG'] === '1';
const kills = isLong ? 220 : 40;
const leastRejoined = isLong ? 20 : 5;
const sessionsAtOnce = 10;
const runLimitMs = isLong ? 60 * 60_000 : 8 * 60_000;

interface Finished {
  driver: SessionDriver;
  counts: CommandCounts;
}

describe('a server that is killed again and again', () => {
  const random = newRandom('kill');
  const book = new HistoryBook();
  const finished: Finished[] = [];
  const histories = new Map<string, SessionEvent[]>();
  const drivers = new Set<SessionDriver>();
  /** Marks of commands that were running in their sandbox when the server died. */
  const running = new Set<string>();
  let stage: KillStage;

  beforeAll(async () => {
    stage = await KillStage.open({
      env: {
        MANYHANDS_TAKEOVER_LIMIT: '1000000',
        MANYHANDS_TAKEOVER_SECOND_WAIT_MS: '0',
        MANYHANDS_TAKEOVER_LATER_WAIT_MS: '0',
      },
    });
    const killing = new AbortController();
    const agents = { free: await newAgent(false), asking: await newAgent(true) };
    const slots = Array.from({ length: sessionsAtOnce }, () => playSessions(agents, random.fork(), killing.signal));
    await killAgainAndAgain(Promise.all(slots));
    killing.abort();
    await Promise.all(slots);
    for (const { driver } of finished) {
      const history = await stage.history(driver);
      histories.set(driver.id, history);
      book.note(driver.id, history);
    }
  }, runLimitMs);

  afterAll(() => stage.close());

  function newAgent(asks: boolean): Promise<string> {
    const configs = asks ? [{ name: 'bash' as const, permission_policy: { type: 'always_ask' as const } }] : [];
    return stage.newAgent({
      tools: [
        { type: 'agent_toolset_20260401', configs },
        { type: 'custom', name: customTool, description: 'Asks.', input_schema: { type: 'object' } },
      ],
    });
  }

  /** One session after the other, until it is enough. */
  async function playSessions(
    agents: { free: string; asking: string },
    chance: Random,
    enough: AbortSignal,
  ): Promise<void> {
    while (!enough.aborted) {
      const asks = chance.chance(0.3);
      const driver = await stage.session(asks ? agents.asking : agents.free);
      drivers.add(driver);
      for (let left = chance.integer(2, 4); left > 0 && !enough.aborted; left--) {
        await driver.play(randomRounds(chance, asks));
      }
      const counts = stage.hands.counts(driver.id);
      if (chance.chance(0.7))
        await stage.client.write((api, options) => api.beta.sessions.archive(driver.id, {}, options));
      finished.push({ driver, counts });
    }
  }

  async function killAgainAndAgain(load: Promise<unknown>): Promise<void> {
    let loadFailed: Error | null = null;
    load.catch((error: unknown) => (loadFailed = error as Error));
    for (let count = 0; count < kills && !loadFailed; count++) {
      const duringStart = random.chance(0.2);
      // Some lives are long enough for every session to come further (H6 lets suspects run one at a time).
      if (count % 6 === 5) await sleep(3_000);
      if (!duringStart) await sleep(random.pick([random.integer(0, 100), random.integer(100, 1_500)]));
      if (random.chance(0.5)) await lookAtHistories();
      await stage.server.kill();
      for (const mark of stage.hands.runningCommands()) running.add(mark);
      if (random.chance(0.3)) await sleep(random.integer(100, 1_000));
      if (random.chance(0.2)) await killDuringStart();
      await stage.server.start();
      await lookAtHistories();
    }
  }

  async function killDuringStart(): Promise<void> {
    const starting = stage.server.start().catch(() => undefined);
    await sleep(random.integer(0, 1_000));
    await stage.server.kill();
    await starting;
  }

  /** All of the sessions that are at work, and some that are done. */
  async function lookAtHistories(): Promise<void> {
    const working = [...drivers].filter((driver) => !finished.some((done) => done.driver === driver));
    const done = finished.slice(-3).map(({ driver }) => driver);
    for (const driver of [...working, ...done]) book.note(driver.id, await stage.history(driver));
  }

  it('only ever lets histories grow', () => {
    expect(book.compared).toBeGreaterThan(kills);
    expect(book.faults).toEqual([]);
  });

  it('brings every session to the end of its script, with nothing lost and nothing doubled', () => {
    const faults = finished.flatMap(({ driver, counts }) => {
      const history = histories.get(driver.id) ?? [];
      return playFaults({ driver, history, counts }).map((fault) => `${driver.id}: ${fault}`);
    });
    expect(faults).toEqual([]);
    expect(finished.length).toBeGreaterThanOrEqual(sessionsAtOnce);
  });

  it('keeps the order of every turn', () => {
    const faults = finished.flatMap(({ driver }) =>
      historyFaults(histories.get(driver.id) ?? []).map((fault) => `${driver.id}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  it('lets streams resume without a gap', async () => {
    const faults: string[] = [];
    for (const { driver } of finished) {
      const history = histories.get(driver.id) ?? [];
      const last = history.findLast((event) => event.processed_at != null);
      await driver.follower.find('last event', (event) => event.id === last?.id && event.processed_at != null);
      const { deliveries } = driver.follower;
      const found = [
        ...positionFaults(deliveries),
        ...streamFaults(
          history,
          deliveries.map(({ event }) => event),
        ),
      ];
      faults.push(...found.map((fault) => `${driver.id}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  it('joins the commands that were running in their sandbox when it died', () => {
    const results = [...histories.values()].flat().filter((event) => event.type === 'agent.tool_result');
    const rejoined = [...running].filter((mark) =>
      results.some((result) => !result.is_error && textOf(result).includes(`done ${mark}`)),
    );
    console.info(`${running.size} commands were running at a kill, ${rejoined.length} were joined afterwards`);
    expect(rejoined.length).toBeGreaterThanOrEqual(leastRejoined);
  });

  it('loses no sandbox of its own accord', () => {
    const results = [...histories.values()].flat().filter((event) => event.type === 'agent.tool_result');
    expect(results.filter((result) => textOf(result).includes('sandbox'))).toEqual([]);
  });

  it('tells one status everywhere', async () => {
    for (const { driver } of finished) {
      const session = await stage.client.read((api) => api.beta.sessions.retrieve(driver.id));
      expect(session.status).toBe(session.archived_at === null ? 'idle' : 'terminated');
    }
  });

  it('keeps a log without gaps that says the same when its copy is folded anew', async () => {
    expect(await stage.server.stop()).toBe(0);
    const audit = await LogAudit.open(stage.server.dataDirectory);
    const faults: string[] = [];
    for (const { driver } of finished) {
      const records = await audit.records(driver.id);
      faults.push(...recordFaults(records).map((fault) => `${driver.id}: ${fault}`));
      const state = await audit.state(driver.id);
      if (state.lease) faults.push(`${driver.id}: its lease was not released`);
    }
    await audit.close();
    expect(faults).toEqual([]);
    await stage.server.removeCopy();
    await stage.server.start();
    for (const { driver } of finished) expect(await stage.history(driver)).toEqual(histories.get(driver.id));
  });

  it('leaves nothing of a session that is deleted', async () => {
    for (const { driver } of finished) {
      await driver.follower.close();
      await stage.client.read((api) => api.beta.sessions.delete(driver.id));
    }
    await until('all sandboxes to be gone', () => Promise.resolve(stage.hands.sessions().length === 0), 60_000);
    expect(finished.flatMap(({ driver }) => processesOf(driver.id))).toEqual([]);
  });
});

/**
 * Ends with a round that is waited for. A message that goes on is the first of them: behind an interrupt its script could
 * be taken together with a cut one's and replaced before it was played.
 */
function randomRounds(random: Random, asks: boolean): Round[] {
  const rounds: Round[] = [];
  if (random.chance(0.3)) rounds.push(randomRound(random, { asks, end: 'go-on' }));
  if (random.chance(0.3)) rounds.push(randomRound(random, { asks, end: 'interrupt' }));
  return [...rounds, randomRound(random, { asks, end: 'wait' })];
}
