import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { HandJournalLine } from '@manyhands/core';
import type { ToolAnswer } from '@manyhands/ports';
import { Executions, type Call } from './executions.ts';
import type { Journal } from './journal.ts';
import { textAnswer } from './tools/answer.ts';
import type { Toolset } from './toolset.ts';

/** Notes what happens in its order: a line of the journal when it is on disk, a call when its tool is asked. */
class Scene {
  readonly notes: string[] = [];
  readonly running = new Map<string, PromiseWithResolvers<ToolAnswer>>();
  fullDisk = false;
  readonly #lines: HandJournalLine[] = [];

  readonly executions = new Executions(
    {
      append: async (line: HandJournalLine) => {
        await sleep(1);
        if (this.fullDisk) throw new Error('ENOSPC');
        this.notes.push(`${line.kind} ${line.id}`);
        return { offset: this.#lines.push(line) - 1, bytes: 0 };
      },
      read: async ({ offset }: { offset: number }) => this.#lines[offset] ?? null,
    } as unknown as Journal,
    {
      run: async (_: string, { as }: { as: string }, signal: AbortSignal) => {
        this.notes.push(`run ${as}`);
        const ending = Promise.withResolvers<ToolAnswer>();
        this.running.set(as, ending);
        signal.addEventListener('abort', () => ending.resolve(textAnswer(String(signal.reason), true)));
        return ending.promise;
      },
      outputText: () => 'so far',
    } as unknown as Toolset,
    '/nowhere',
  );

  async started(id: string): Promise<void> {
    await expect.poll(() => this.running.has(id), { interval: 1 }).toBe(true);
  }

  end(id: string): void {
    this.running.get(id)?.resolve(textAnswer(`end of ${id}`));
  }
}

function call(id: string, name: Call['name'] = 'bash', timeoutMs?: number): Call {
  return { id, name, input: { as: id }, ...(timeoutMs !== undefined && { timeoutMs }) };
}

describe('executions', () => {
  it('are in the journal before their tool is asked, and their result before it is told', async () => {
    const scene = new Scene();
    const execution = scene.executions.join(call('a'));
    void execution.finished.then(() => scene.notes.push('told a'));
    await scene.started('a');
    expect(execution.isFinished).toBe(false);
    expect(execution.outputText()).toBe('so far');
    scene.end('a');
    await execution.finished;
    expect(scene.notes).toEqual(['started a', 'run a', 'finished a', 'told a']);
    expect(await execution.answer()).toEqual(textAnswer('end of a'));
  });

  it('of the shell take turns, the others do not wait', async () => {
    const scene = new Scene();
    const { executions } = scene;
    executions.join(call('a'));
    const second = executions.join(call('b'));
    executions.join(call('c', 'read'));
    await scene.started('a');
    await scene.started('c');
    expect(scene.notes).not.toContain('started b');
    scene.end('a');
    await scene.started('b');
    scene.end('b');
    await second.finished;
    expect(executions.list()).toEqual([
      { id: 'a', state: 'finished' },
      { id: 'b', state: 'finished' },
      { id: 'c', state: 'running' },
    ]);
  });

  it('that were cancelled while they waited for their turn never start', async () => {
    const scene = new Scene();
    scene.executions.join(call('a'));
    const waiting = scene.executions.join(call('b'));
    await scene.started('a');
    const cancelled = scene.executions.cancel('b');
    scene.end('a');
    await cancelled;
    expect(await waiting.answer()).toMatchObject({ isError: true });
    expect(scene.notes.filter((note) => note.endsWith(' b'))).toEqual(['finished b']);
  });

  it('that were cancelled before they came never start', async () => {
    const scene = new Scene();
    await scene.executions.cancel('a');
    const execution = scene.executions.join(call('a'));
    expect(execution.isFinished).toBe(true);
    expect(scene.notes).toEqual(['finished a']);
  });

  it('end at their time limit', async () => {
    const scene = new Scene();
    const execution = scene.executions.join(call('a', 'bash', 20));
    await execution.finished;
    expect(await execution.answer()).toEqual(textAnswer('timed out after 20ms', true));
  });

  it('do not start on a full disk', async () => {
    const scene = new Scene();
    scene.fullDisk = true;
    const execution = scene.executions.join(call('a'));
    await execution.finished;
    expect(scene.notes).toEqual([]);
    expect(await execution.answer()).toMatchObject({ isError: true });
  });

  it('tell their result although the disk has no room for it', async () => {
    const scene = new Scene();
    const execution = scene.executions.join(call('a'));
    await scene.started('a');
    scene.fullDisk = true;
    scene.end('a');
    await execution.finished;
    expect(await execution.answer()).toEqual(textAnswer('end of a'));
  });

  it('say when the last of them has finished', async () => {
    const scene = new Scene();
    let quiet = 0;
    scene.executions.onQuiet = () => quiet++;
    const both = [scene.executions.join(call('a', 'read')), scene.executions.join(call('b', 'read'))];
    await scene.started('a');
    await scene.started('b');
    scene.end('a');
    await both[0]?.finished;
    expect([quiet, scene.executions.busy]).toEqual([0, true]);
    scene.end('b');
    await both[1]?.finished;
    expect([quiet, scene.executions.busy]).toEqual([1, false]);
  });
});
