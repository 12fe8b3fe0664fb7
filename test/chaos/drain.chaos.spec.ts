/** H5: SIGTERM under load. What can end in time ends, what is cut is closed, and what runs in sandboxes runs on. */
import { script } from '@manyhands/adapter-scripted-model';
import { describe, expect, it } from 'vitest';
import { until } from '../support/conditions.ts';
import { message, textOf } from '../support/conversation.ts';
import { historyFaults } from '../support/history-checker.ts';
import { useKillStage } from '../support/kill-stage.ts';
import { LogAudit } from '../support/log-audit.ts';
import { countingCall } from '../support/rounds.ts';
import type { SessionDriver } from '../support/session-driver.ts';

const drainSeconds = 4;

describe('a server that is told to stop', () => {
  const at = useKillStage({ env: { MANYHANDS_DRAIN_SECONDS: String(drainSeconds) } });

  it('finishes the streams it can, cuts the others, and its commands are joined by the next one', async () => {
    const { stage } = at;
    const [quick, slow, working, waiting] = await Promise.all([
      stage.session(),
      stage.session(),
      stage.session(),
      stage.session(),
    ]);
    const words = 'word '.repeat(80).trim();
    const command = countingCall('joined', drainSeconds + 4);
    await quick.send(message(script([{ blocks: [{ text: words }], chunkChars: 20, tokenDelayMs: 80 }])));
    await slow.send(message(script([{ blocks: [{ text: words }], chunkChars: 10, tokenDelayMs: 1_500 }])));
    await working.send(message(script([[{ tool: 'bash', input: command.input }], [{ text: 'joined it' }]])));
    await Promise.all([quick, slow].map((driver) => untilAsked(driver)));
    await until('the command to run', () => Promise.resolve(stage.hands.counts(working.id).starts('joined') === 1));

    const stopping = performance.now();
    expect(await stage.server.stop()).toBe(0);
    expect(performance.now() - stopping).toBeLessThan((drainSeconds + 10) * 1_000);

    const audit = await LogAudit.open(stage.server.dataDirectory);
    for (const driver of [quick, slow, working, waiting]) {
      expect(await audit.state(driver.id)).toMatchObject({ lease: null, barrenTakeovers: 0 });
    }
    const cut = (await audit.records(slow.id)).slice(-2);
    expect(cut.map((record) => record.kind)).toEqual(['span.model_request_end', 'lease.released']);
    expect(cut[0]?.facets).toMatchObject({ isError: true });
    const finished = (await audit.records(quick.id)).map((record) => record.kind);
    expect(finished.filter((kind) => kind === 'span.model_request_start')).toHaveLength(1);
    expect(finished.slice(-2)).toEqual(['session.status_idle', 'lease.released']);
    await audit.close();
    expect(stage.hands.counts(working.id).ends('joined')).toBe(0);

    await stage.server.start();
    await untilSaid(working, 'joined it');
    const results = (await stage.history(working)).filter((event) => event.type === 'agent.tool_result');
    expect(results.map((result) => [result.is_error, textOf(result)])).toEqual([[false, 'done joined']]);
    expect(stage.hands.counts(working.id).starts('joined')).toBe(1);
    await slow.send({ type: 'user.interrupt' });
    await slow.follower.find('idle', (event) => event.type === 'session.status_idle');
    for (const driver of [quick, slow, working]) expect(historyFaults(await stage.history(driver))).toEqual([]);
    for (const driver of [quick, working]) {
      const starts = (await stage.history(driver)).filter((event) => event.type === 'span.model_request_end');
      expect(starts.filter((event) => event.is_error)).toEqual([]);
    }
  });
});

async function untilAsked(driver: SessionDriver): Promise<void> {
  await driver.follower.find('request', (event) => event.type === 'span.model_request_start');
}

async function untilSaid(driver: SessionDriver, words: string): Promise<void> {
  await driver.follower.find('answer', (event) => event.type === 'agent.message' && textOf(event) === words);
  await driver.follower.find('idle', (event) => event.type === 'session.status_idle');
}
