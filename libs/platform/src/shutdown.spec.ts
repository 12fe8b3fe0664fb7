import { silentLogger } from '@manyhands/ports';
import { describe, expect, it } from 'vitest';

import { shutDown, untilStopSignal } from './shutdown.ts';

const second = 1000;

describe('shutdown', () => {
  it('runs the steps in order and gives 0', async () => {
    const done: string[] = [];
    const step = (name: string) => ({ name, limitMs: second, run: () => void done.push(name) });
    expect(await shutDown([step('http'), step('harness'), step('log')], silentLogger)).toBe(0);
    expect(done).toEqual(['http', 'harness', 'log']);
  });

  it('goes on after a step that fails, and gives 1', async () => {
    let closed = false;
    const steps = [
      { name: 'http', limitMs: second, run: () => Promise.reject(new Error('away')) },
      { name: 'log', limitMs: second, run: () => void (closed = true) },
    ];
    expect(await shutDown(steps, silentLogger)).toBe(1);
    expect(closed).toBe(true);
  });

  it('cuts a step that does not end, and gives 1', async () => {
    let closed = false;
    const steps = [
      { name: 'http', limitMs: 5, run: () => new Promise<void>(() => {}) },
      { name: 'log', limitMs: second, run: () => void (closed = true) },
    ];
    expect(await shutDown(steps, silentLogger)).toBe(1);
    expect(closed).toBe(true);
  });

  it('takes a second signal right after the first for the same one', async () => {
    const stopped = untilStopSignal();
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGINT', 'SIGINT');
    expect(await stopped).toBe('SIGINT');
    process.removeAllListeners('SIGTERM');
    process.removeAllListeners('SIGINT');
  });

  it('waits for a signal', async () => {
    const stopped = untilStopSignal();
    process.emit('SIGTERM', 'SIGTERM');
    expect(await stopped).toBe('SIGTERM');
    process.removeAllListeners('SIGTERM');
    process.removeAllListeners('SIGINT');
  });
});
