/** Measures a running system against the figures it is meant to reach. It asserts nothing: noise is for people to judge. */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { appends } from './appends.ts';
import { appendToStream } from './append-stream.ts';
import type { Figure } from './figures.ts';
import { round } from './figures.ts';
import { firstToken } from './first-token.ts';
import { idle } from './idle.ts';
import { longSession } from './long-session.ts';
import type { Measurement } from './measurement.ts';
import { paging } from './paging.ts';
import { restart } from './restart.ts';
import { runningSessions } from './running-sessions.ts';
import { toolCall } from './tool-call.ts';
import { memoryGrowth, turnsPerSecond } from './turns.ts';

const measurements: readonly Measurement[] = [
  firstToken,
  toolCall,
  turnsPerSecond,
  appendToStream,
  appends,
  longSession,
  paging,
  runningSessions,
  idle,
  restart,
  memoryGrowth,
];
const resultsFile = path.resolve(import.meta.dirname, '../../bench-results.json');

const usage = `npm run bench -- [--quick] [--only <name>]... [--help]

Starts servers of its own in temporary directories, measures, prints a table and writes bench-results.json.

  --quick        fewer samples: two minutes instead of ten
  --only <name>  this measurement alone; may be given more than once

Measurements
${measurements.map(({ name, about }) => `  ${name.padEnd(16)}${about}`).join('\n')}
`;

interface Result {
  measurement: string;
  seconds: number;
  figures: Figure[];
  error?: string;
}

async function measure(measurement: Measurement, isQuick: boolean): Promise<Result> {
  const began = performance.now();
  const seconds = (): number => round((performance.now() - began) / 1_000);
  process.stdout.write(`\n${measurement.name}: ${measurement.about}\n`);
  try {
    const figures = await measurement.run({ isQuick });
    for (const line of figures) process.stdout.write(`${rowOf(line)}\n`);
    return { measurement: measurement.name, seconds: seconds(), figures };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stdout.write(`  failed: ${text}\n`);
    return { measurement: measurement.name, seconds: seconds(), figures: [], error: text };
  }
}

function rowOf({ name, goal, measured, isMet }: Figure): string {
  const verdict = isMet === null ? '' : isMet ? 'ok' : 'MISS';
  return `  ${verdict.padEnd(5)}${name.padEnd(56)}${goal.padEnd(26)}${measured}`;
}

async function run(): Promise<number> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const unknown = values.only?.filter((name) => !measurements.some((measurement) => measurement.name === name)) ?? [];
  if (unknown.length > 0) {
    process.stderr.write(`No measurement is named ${unknown.join(', ')}.\n\n${usage}`);
    return 2;
  }
  const chosen = measurements.filter(({ name }) => values.only?.includes(name) ?? true);
  const results: Result[] = [];
  for (const measurement of chosen) results.push(await measure(measurement, values.quick));
  report(results, values.quick);
  return results.some((result) => result.error) ? 1 : 0;
}

function report(results: readonly Result[], isQuick: boolean): void {
  const figures = results.flatMap((result) => result.figures);
  const missed = figures.filter(({ isMet }) => isMet === false);
  const met = figures.filter(({ isMet }) => isMet === true);
  process.stdout.write(
    `\n${met.length} goals met, ${missed.length} missed; load of the machine ${loadavg().map(round).join(' ')}\n`,
  );
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, node: process.version, loadavg: loadavg() };
  writeFileSync(resultsFile, `${JSON.stringify({ at: new Date(), isQuick, machine, results }, null, 2)}\n`);
}

process.exit(await run());
