/**
 * H6: a session that takes its worker down again and again is given up, alone. The short run shortens the waits, by the
 * settings that there are for it; the long run has the defaults.
 */
import { script } from '@manyhands/adapter-scripted-model';
import { describe, expect, it } from 'vitest';
import { until } from '../support/conditions.ts';
import { message, textOf } from '../support/conversation.ts';
import { processesOf } from '../support/hand-files.ts';
import { historyFaults } from '../support/history-checker.ts';
import { useKillStage } from '../support/kill-stage.ts';
import { countingCall } from '../support/rounds.ts';
import type { SessionDriver } from '../support/session-driver.ts';
import type { SessionEvent } from '../support/stream-recorder.ts';

const isLong = process.env['MANYHANDS_LONG'] === '1';
const waits = isLong ? { second: 5_000, later: 30_000 } : { second: 1_500, later: 3_000 };
const env = isLong
  ? {}
  : {
      MANYHANDS_TAKEOVER_SECOND_WAIT_MS: String(waits.second),
      MANYHANDS_TAKEOVER_LATER_WAIT_MS: String(waits.later),
    };
/** The first claim and five takeovers; instead of the sixth the turn is given up. */
const claims = 6;
const limitMs = 10 * 60_000;

describe('a session whose worker dies again and again', () => {
  const at = useKillStage({ env });

  it(
    'is given up while it waits for the model, and harms no other',
    async () => {
      const { stage } = at;
      const deadly = await stage.session();
      const others = [await stage.session(), await stage.session()];
      const silence = { kind: 'silence', afterEvents: 0, times: claims } as const;
      await deadly.send(message(script([{ blocks: [{ text: 'said in the end' }], faults: [silence] }])));
      await deadly.send(message('dropped in the end'));
      for (let claim = 1; claim <= claims; claim++) {
        await untilOpened(deadly, claim);
        await Promise.all(others.map((other) => work(other, `while ${claim}`)));
        await stage.restart();
      }
      const history = await untilGivenUp(deadly);
      const spans = timesOf(history, 'span.model_request_start');
      expect(spans).toHaveLength(claims);
      const gaps = spans.slice(1).map((time, index) => time - (spans[index] ?? 0));
      expect(gaps[1]).toBeGreaterThanOrEqual(waits.second);
      for (const gap of gaps.slice(2)) expect(gap).toBeGreaterThanOrEqual(waits.later);
      expect(history.filter((event) => event.type === 'span.model_request_end' && event.is_error)).toHaveLength(claims);
      expect(endOf(history)).toEqual([
        'span.model_request_end',
        'session.error',
        'user.message',
        'session.thread_status_idle',
        'session.usage',
        'session.status_idle',
      ]);
      expect(historyFaults(history)).toEqual([]);
      expect(await work(deadly, 'again')).toBe('said in the end');
      for (const other of others) expect(historyFaults(await stage.history(other))).toEqual([]);
    },
    limitMs,
  );

  it(
    'is given up while a command runs, and the command is ended',
    async () => {
      const { stage } = at;
      const deadly = await stage.session();
      const { tool, input } = countingCall('endless', 110);
      await deadly.send(message(script([[{ tool, input }], [{ text: 'never said' }]])));
      await until('the command to run', () => Promise.resolve(stage.hands.counts(deadly.id).starts('endless') === 1));
      await stage.restart();
      // A holder that joins a command writes nothing; that it holds shows in the next holder's count.
      for (let claim = 2; claim <= claims; claim++) {
        await untilHeld();
        await stage.restart();
      }
      const history = await untilGivenUp(deadly);
      expect(endOf(history)).toEqual([
        'span.model_request_end',
        'session.error',
        'agent.tool_result',
        'session.thread_status_idle',
        'session.usage',
        'session.status_idle',
      ]);
      expect(historyFaults(history)).toEqual([]);
      expect(stage.hands.counts(deadly.id).starts('endless')).toBe(1);
      const next = countingCall('next', 0);
      await deadly.send(message(script([[{ tool: next.tool, input: next.input }], [{ text: 'went on' }]])));
      await deadly.follower.find('next answer', (event) => 'content' in event && textOf(event) === 'went on');
      expect(stage.hands.counts(deadly.id).ends('endless')).toBe(0);
      await stage.client.read((api) => api.beta.sessions.delete(deadly.id));
      await until('its processes to be gone', () => Promise.resolve(processesOf(deadly.id).length === 0));
    },
    limitMs,
  );

  async function untilHeld(): Promise<void> {
    await until(
      'the session to be held',
      async () => {
        const metrics = await (await fetch(`${at.stage.server.url}/metrics`)).text();
        return /harness_takeovers\S* [1-9]/.test(metrics);
      },
      waits.later + 30_000,
    );
  }

  async function untilGivenUp(driver: SessionDriver): Promise<SessionEvent[]> {
    await driver.follower.find(
      'end of the turn',
      (event) => event.type === 'session.status_idle' && event.stop_reason.type === 'retries_exhausted',
    );
    return at.stage.history(driver);
  }
});

/** Waits until the model was asked for the so-manieth time. */
async function untilOpened(driver: SessionDriver, count: number): Promise<void> {
  let seen = 0;
  await driver.follower.find(
    `request ${count}`,
    (event) => event.type === 'span.model_request_start' && ++seen === count,
  );
}

/** One turn of another session. */
async function work(driver: SessionDriver, words: string): Promise<string> {
  const from = driver.follower.deliveries.length;
  await driver.send(message(script([[{ text: words }]])));
  const answer = await driver.follower.find('answer', (event) => event.type === 'agent.message', from);
  await driver.follower.find('idle', (event) => event.type === 'session.status_idle', from);
  return textOf(answer as { content: unknown[] });
}

function timesOf(history: readonly SessionEvent[], type: SessionEvent['type']): number[] {
  return history.filter((event) => event.type === type).map((event) => Date.parse(event.processed_at ?? ''));
}

/** Types from the last error on, with the end of the request before it. */
function endOf(history: readonly SessionEvent[]): string[] {
  const error = history.findLastIndex((event) => event.type === 'session.error');
  const from = history[error - 1]?.type === 'span.model_request_end' ? error - 1 : error;
  return history.slice(from).map((event) => event.type);
}
