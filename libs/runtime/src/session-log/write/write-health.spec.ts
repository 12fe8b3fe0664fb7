import { silentLogger, TopicError, type Clock } from '@manyhands/ports';
import { describe, expect, it } from 'vitest';
import { WriteHealth } from './write-health.ts';

describe('a log that cannot be written', () => {
  it('is told once a minute, with how often it was tried, and when it can be written again', () => {
    let now = 0;
    const said: [string, Record<string, unknown>][] = [];
    const say = (fields: Record<string, unknown>, message: string) => void said.push([message, fields]);
    const health = new WriteHealth({ monotonicMs: () => now } as Clock, { ...silentLogger, warn: say, info: say });
    const full = new TopicError('unavailable', 'The disk is full.');
    health.written(null);
    for (; now < 60_000; now += 250) health.written(full);
    expect(said).toEqual([['the log cannot be written', { failures: 1, cause: 'TopicError: The disk is full.' }]]);
    health.written(full);
    expect(said).toHaveLength(2);
    health.written(null);
    health.written(null);
    expect(said.slice(1)).toEqual([
      ['the log cannot be written', { failures: 241, cause: 'TopicError: The disk is full.' }],
      ['the log can be written again', { failures: 241 }],
    ]);
  });
});
