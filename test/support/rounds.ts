/** What a session is asked to do in the kill tests: rounds of one message each, with all that may be under way in one. */
import type { ScriptBlock, ScriptTurn, ScriptTurnInput } from '@manyhands/adapter-scripted-model';
import type { Random } from './random.ts';

export interface PlannedCall {
  /** Stands in the call's input, and nowhere else. */
  mark: string;
  tool: string;
  input: Record<string, unknown>;
  /** What its result says. */
  expected: string;
  isError: boolean;
  /** Of a call that asks first. */
  confirm: 'allow' | 'deny';
  /** Writes its start and its end down in the workspace. */
  counts: boolean;
}

export interface Round {
  id: string;
  turns: ScriptTurnInput[];
  calls: PlannedCall[];
  /**
   * `wait`: until the script's last answer. `interrupt`: after some time, wherever it is by then. `go-on`: the next
   * message is sent while this one is being worked on.
   */
  end: 'wait' | 'interrupt' | 'go-on';
  afterMs: number;
}

export interface RoundWishes {
  /** `bash` waits for the client's word. */
  asks: boolean;
  end: Round['end'];
}

export const customTool = 'ask_client';
export const counterFile = 'counter.txt';

/** The last answer of a round. */
export function lastWords(round: Round): string {
  return `end ${round.id}`;
}

export function answerTo(mark: string): string {
  return `answer ${mark}`;
}

export function randomRound(random: Random, wishes: RoundWishes): Round {
  const id = `round-${randomName(random)}`;
  const calls: PlannedCall[] = [];
  const turns: ScriptTurn[] = [];
  // A message that comes while the client is asked for something would be refused.
  const quiet = wishes.end === 'go-on';
  for (let left = random.integer(1, 3); left > 0; left--) {
    const group = randomCalls(random, { asks: wishes.asks, asksClient: !quiet });
    calls.push(...group);
    turns.push(randomTurn(random, group));
  }
  turns.push({ blocks: [{ text: `end ${id}` }], tokenDelayMs: random.pick([0, 0, 5]) });
  return { id, turns, calls, end: wishes.end, afterMs: random.integer(0, 2_500) };
}

/** A command that tells when it begins, when it ends, and that it was the one to do so. */
export function countingCall(mark: string, seconds: number): PlannedCall {
  const note = (word: string): string => `echo "${word} ${mark}" >> ${counterFile}`;
  const command = `${note('start')}; sleep ${seconds}; ${note('end')}; echo "done ${mark}"`;
  return call(mark, 'bash', { command }, `done ${mark}`, { counts: true });
}

function randomTurn(random: Random, calls: PlannedCall[]): ScriptTurn {
  const blocks: ScriptBlock[] = [];
  if (random.chance(0.3)) blocks.push({ thinking: 'Let me think about this for a moment.' });
  if (random.chance(0.5)) blocks.push({ text: 'Some words before the work, so that the stream takes its time.' });
  for (const { tool, input } of calls) blocks.push({ tool, input });
  const turn: ScriptTurn = { blocks, tokenDelayMs: random.pick([0, 5, 40]) };
  if (random.chance(0.1))
    turn.faults = [
      random.pick([
        { kind: 'status', status: 529 },
        { kind: 'cut', afterEvents: 3 },
      ]),
    ];
  return turn;
}

function randomCalls(random: Random, { asks, asksClient }: { asks: boolean; asksClient: boolean }): PlannedCall[] {
  const calls: PlannedCall[] = [];
  for (let left = random.integer(1, 2); left > 0; left--) {
    const kind = random.pick(['count', 'count', 'files', 'look', 'client']);
    if (kind === 'client' && asksClient) calls.push(clientCall(randomName(random)));
    else if (kind === 'files') calls.push(...fileCalls(randomName(random)));
    else if (kind === 'look' || (asks && !asksClient)) calls.push(lookingCall(randomName(random)));
    else calls.push(confirmed(countingCall(randomName(random), random.integer(2, 30) / 10), asks, random));
  }
  return calls;
}

function confirmed(counting: PlannedCall, asks: boolean, random: Random): PlannedCall {
  if (!asks || random.chance(0.75)) return counting;
  return { ...counting, confirm: 'deny', isError: true, expected: 'denied' };
}

/** In one response: they work on the same file, so their order shows. */
function fileCalls(mark: string): PlannedCall[] {
  const file_path = `${mark}.txt`;
  return [
    call(`${mark}-1`, 'write', { file_path, content: `one ${mark}` }, ''),
    call(`${mark}-2`, 'edit', { file_path, old_string: 'one', new_string: 'two' }, ''),
    call(`${mark}-3`, 'read', { file_path }, `two ${mark}`),
  ];
}

function lookingCall(mark: string): PlannedCall {
  return call(mark, 'glob', { pattern: '*' }, '');
}

function clientCall(mark: string): PlannedCall {
  return call(mark, customTool, {}, answerTo(mark));
}

function call(
  mark: string,
  tool: string,
  input: Record<string, unknown>,
  expected: string,
  { counts = false } = {},
): PlannedCall {
  return { mark, tool, input: { ...input, mark }, expected, isError: false, confirm: 'allow', counts };
}

function randomName(random: Random): string {
  return Array.from({ length: 10 }, () => random.integer(0, 35).toString(36)).join('');
}
