/**
 * What a session plays. A message carries its script: for each model response the tools it calls, and then the text
 * `done <name>`. The model answers from the prompt alone, so a repeated request gives the same answer.
 */
import { compactionPrompt } from '@manyhands/core';
import type { ModelRequest } from '@manyhands/ports';
import type { ModelBlock } from '@manyhands/protocol';
import type { Chance } from './chance.ts';
import type { ModelAnswer } from './sim-model.ts';

export interface Script {
  name: string;
  /** Tools of each response; the response after the last one ends the turn. */
  steps: string[][];
}

const tools = ['bash', 'bash', 'read', 'write', 'ask_human'];

export function anyScript(name: string, chance: Chance): Script {
  const steps = Array.from({ length: chance.between(0, 3) }, () =>
    Array.from({ length: chance.between(1, 3) }, () => chance.pick(tools)),
  );
  return { name, steps };
}

export function scriptText(script: Script): string {
  return JSON.stringify(script);
}

export function doneText(name: string): string {
  return `done ${name}`;
}

export function answerTo(request: ModelRequest): ModelAnswer {
  const { script, answered, isCompaction } = placeOf(request);
  if (isCompaction) {
    const rest = { ...script, steps: script.steps.slice(answered) };
    return { blocks: [text(`<summary>${scriptText(rest)}</summary>`)], stopReason: 'end_turn' };
  }
  const step = script.steps[answered];
  if (!step) return { blocks: [text(doneText(script.name))], stopReason: 'end_turn' };
  const calls = step.map((name, index): ModelBlock => {
    const place = `${script.name}-${script.steps.length - answered}-${index}`;
    return { type: 'tool_use', id: `toolu_${place}`, name, input: { place } };
  });
  return { blocks: [text(`step of ${script.name}`), ...calls], stopReason: 'tool_use' };
}

/** The script of the last message in the prompt, and how many responses it has had. */
function placeOf(request: ModelRequest): { script: Script; answered: number; isCompaction: boolean } {
  let script: Script = { name: 'nothing', steps: [] };
  let answered = 0;
  let isCompaction = false;
  for (const { role, content } of request.messages) {
    if (role === 'assistant') answered++;
    if (role !== 'user') continue;
    for (const block of content) {
      if (block.type !== 'text') continue;
      const words = String(block['text']);
      isCompaction = words === compactionPrompt;
      if (isCompaction) continue;
      script = JSON.parse(words.slice(words.indexOf('{'))) as Script;
      answered = 0;
    }
  }
  return { script, answered, isCompaction };
}

function text(words: string): ModelBlock {
  return { type: 'text', text: words };
}
