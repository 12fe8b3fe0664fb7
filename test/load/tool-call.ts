/**
 * What a tool call costs beside the tool: from the model's whole answer to the start of the command, and from its end to
 * the next request at the model. Two commits lie in between, the answer's and the result's. The command tells its own
 * time and does nothing else, so start and end are one moment.
 */
import { preciseNow } from '@manyhands/adapter-scripted-model';
import { BenchPlatform } from './bench-platform.ts';
import { figure, latency, type Figure } from './figures.ts';
import type { Measurement } from './measurement.ts';

/** A builtin: no process is started for it. */
const tellTime = { tool: 'bash', input: { command: 'echo $EPOCHREALTIME' } };

interface Call {
  before: number;
  after: number;
}

export const toolCall: Measurement = {
  name: 'tool-call',
  about:
    'answer complete → command starts, command ends → next request at the model; clock of the command in its output',
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    try {
      // Long enough that the log writes over its write-ahead file, as it does for ever after: a growing file costs more.
      await platform.warmUp(800);
      const cold: number[] = [];
      const warm: Call[] = [];
      for (let i = 0; i < (isQuick ? 5 : 12); i++) {
        const sessionId = await platform.newSession();
        cold.push((await callsOf(platform, sessionId, 1))[0]?.before ?? NaN);
        await callsOf(platform, sessionId, 3); // Its hand's code is compiled by now.
        warm.push(...(await callsOf(platform, sessionId, isQuick ? 20 : 40)));
      }
      return figuresOf(cold, warm);
    } finally {
      await platform.close();
    }
  },
};

/** One message whose answer calls the tool that often, one call after the other. */
async function callsOf(platform: BenchPlatform, sessionId: string, calls: number): Promise<Call[]> {
  const scriptId = crypto.randomUUID();
  const turns = Array.from({ length: calls }, () => [tellTime]);
  const listener = await platform.listen(sessionId);
  const idle = listener.nextOf('session.status_idle');
  const from = preciseNow();
  await platform.play(sessionId, [...turns, [{ text: 'Done.' }]], scriptId);
  await idle;
  listener.close();
  const [requests, times] = [await platform.model.requestsByScript(), await commandTimes(platform, sessionId)];
  const played = requests.get(scriptId) ?? [];
  return times
    .filter((time) => time > from)
    .map((time, index) => ({
      before: time - (played[index]?.answeredAt ?? NaN),
      after: (played[index + 1]?.arrivedAt ?? NaN) - time,
    }));
}

async function commandTimes(platform: BenchPlatform, sessionId: string): Promise<number[]> {
  const path = `/v1/sessions/${sessionId}/events?types[]=agent.tool_result&limit=1000`;
  const { data } = await platform.call<{ data: { content: { text: string }[] }[] }>('GET', path);
  return data.map(({ content }) => Number(content[0]?.text.trim()) * 1_000);
}

function figuresOf(cold: readonly number[], warm: readonly Call[]): Figure[] {
  const before = warm.map((call) => call.before);
  const after = warm.map((call) => call.after);
  const parts = { start: latency('', before), next: latency('', after) };
  return [
    latency(
      'durable cost of a tool call',
      warm.map((call) => call.before + call.after),
      [{ of: 'p50', atMost: 5 }],
    ),
    figure('  of it answer complete → command starts', parts.start.measured, parts.start.values),
    figure('  of it command ends → request at the model', parts.next.measured, parts.next.values),
    latency('warm hand: answer complete → command starts', before, [{ of: 'p95', atMost: 20 }]),
    latency('cold hand: answer complete → command starts', cold, [{ of: 'p50', atMost: 250 }]),
  ];
}
