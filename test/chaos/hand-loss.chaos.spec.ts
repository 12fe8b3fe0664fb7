/** S2: the death of a sandbox is a tool error at most, and the next call has a new one on the same workspace. */
import { script, type ScriptBlock } from '@manyhands/adapter-scripted-model';
import { describe, expect, it } from 'vitest';
import { until } from '../support/conditions.ts';
import { message, textOf } from '../support/conversation.ts';
import { daemonsOf, processesOf } from '../support/hand-files.ts';
import { historyFaults } from '../support/history-checker.ts';
import { useKillStage } from '../support/kill-stage.ts';
import { countingCall } from '../support/rounds.ts';
import type { SessionDriver } from '../support/session-driver.ts';

const lost = /^The sandbox was lost while this tool call ran/;

describe('a sandbox that dies', () => {
  const at = useKillStage();

  it('before a command: the call has a new one, and no error', async () => {
    const driver = await at.stage.session();
    expect(await runIn(driver, bash('echo one > kept; echo first'))).toEqual(['first']);
    killSandbox(driver);
    expect(await runIn(driver, bash('cat kept'))).toEqual(['one']);
    expect(at.stage.hands.generations(driver.id)).toEqual([1, 2]);
    await check(driver);
  });

  it('during a command: the model is told, and the next call has the workspace as it was left', async () => {
    const driver = await at.stage.session();
    const call = countingCall('during', 60);
    await driver.send(message(script([[{ tool: 'bash', input: call.input }], [bash('cat counter.txt')], [ended]])));
    await untilRuns(driver, 'during');
    killSandbox(driver);
    await untilEnded(driver);
    const [first = '', second = ''] = await results(driver);
    expect(first).toMatch(lost);
    expect(second).toBe('start during');
    expect(at.stage.hands.counts(driver.id).starts('during')).toBe(1);
    await check(driver);
  });

  it('after a command, while the model answers: the next call has a new one', async () => {
    const driver = await at.stage.session();
    const slowly = { blocks: [{ text: 'Let me see what is there now.' }, bash('cat kept')], tokenDelayMs: 150 };
    await driver.send(message(script([[bash('echo two > kept; echo written')], slowly, [ended]])));
    await driver.follower.find('result', (event) => event.type === 'agent.tool_result');
    killSandbox(driver);
    await untilEnded(driver);
    expect(await results(driver)).toEqual(['written', 'two']);
    await check(driver);
  });

  it('while no server is there, in the midst of a command: it is not run again', async () => {
    const { stage } = at;
    const driver = await stage.session();
    const call = countingCall('alone', 60);
    await driver.send(message(script([[{ tool: 'bash', input: call.input }], [bash('echo new')], [ended]])));
    await untilRuns(driver, 'alone');
    await stage.server.kill();
    killSandbox(driver);
    await stage.server.start();
    await untilEnded(driver);
    const [first = '', second = ''] = await results(driver);
    expect(first).toMatch(lost);
    expect(second).toBe('new');
    expect(stage.hands.counts(driver.id).starts('alone')).toBe(1);
    await check(driver);
  });

  it('while no server is there, after the command: its result is in the journal', async () => {
    const { stage } = at;
    const driver = await stage.session();
    const call = countingCall('journal', 1);
    await driver.send(message(script([[{ tool: 'bash', input: call.input }], [ended]])));
    await untilRuns(driver, 'journal');
    await stage.server.kill();
    await until('the command to end', () => Promise.resolve(stage.hands.counts(driver.id).ends('journal') === 1));
    // The daemon writes the end down when it has seen it, which takes a moment longer than the command itself.
    await new Promise((resolve) => setTimeout(resolve, 500));
    killSandbox(driver);
    await stage.server.start();
    await untilEnded(driver);
    expect(await results(driver)).toEqual(['done journal']);
    expect(stage.hands.counts(driver.id).starts('journal')).toBe(1);
    await check(driver);
  });

  it('with its daemon alone killed: the rest of it goes too', async () => {
    const driver = await at.stage.session();
    await runIn(driver, bash('sleep 1000 & echo begun'));
    for (const pid of daemonsOf(driver.id)) process.kill(pid, 'SIGKILL');
    expect(await runIn(driver, bash('pgrep -c sleep || true'))).toEqual(['0']);
    await check(driver);
  });

  /** In one message, and the results of it. */
  async function runIn(driver: SessionDriver, ...calls: ScriptBlock[]): Promise<string[]> {
    const from = driver.follower.deliveries.length;
    const before = (await results(driver)).length;
    await driver.send(message(script([calls, [ended]])));
    await untilEnded(driver, from);
    return (await results(driver)).slice(before);
  }

  async function results(driver: SessionDriver): Promise<string[]> {
    const history = await at.stage.history(driver);
    return history.filter((event) => event.type === 'agent.tool_result').map(textOf);
  }

  async function untilRuns(driver: SessionDriver, mark: string): Promise<void> {
    await until('the command to run', () => Promise.resolve(at.stage.hands.counts(driver.id).starts(mark) === 1));
  }

  /** Its history is in order, and a deletion leaves nothing of it running. */
  async function check(driver: SessionDriver): Promise<void> {
    expect(historyFaults(await at.stage.history(driver))).toEqual([]);
    await driver.follower.close();
    await at.stage.client.read((api) => api.beta.sessions.delete(driver.id));
    await until('all to be gone', () =>
      Promise.resolve(processesOf(driver.id).length === 0 && !at.stage.hands.has(driver.id)),
    );
  }
});

const ended: ScriptBlock = { text: 'ended' };

function bash(command: string): ScriptBlock {
  return { tool: 'bash', input: { command } };
}

async function untilEnded(driver: SessionDriver, from = 0): Promise<void> {
  await driver.follower.find('idle', (event) => event.type === 'session.status_idle', from);
}

/** Everything of it at once, as the kernel does when memory is short or a machine goes down. */
function killSandbox(driver: SessionDriver): void {
  const pids = processesOf(driver.id);
  if (pids.length === 0) throw new Error(`${driver.id} has no sandbox to kill`);
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with another one.
    }
  }
}
