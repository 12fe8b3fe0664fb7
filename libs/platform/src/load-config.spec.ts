import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { ConfigError, loadConfig } from './load-config.ts';

const schema = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).default(8787),
  KEY: z.string().min(20, 'must have at least 20 characters'),
  LEVEL: z.enum(['info', 'debug']).default('info'),
});

function problemsOf(environment: Record<string, string | undefined>): readonly string[] {
  try {
    loadConfig(schema, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
  }
  return [];
}

describe('loadConfig', () => {
  it('gives parsed values and defaults, and ignores variables it does not know', () => {
    expect(loadConfig(schema, { KEY: 'k'.repeat(20), PORT: '80', HOME: '/root' })).toEqual({
      PORT: 80,
      KEY: 'k'.repeat(20),
      LEVEL: 'info',
    });
  });

  it('lists every bad setting at once', () => {
    const problems = problemsOf({ PORT: 'many', LEVEL: 'loud' });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(['PORT', 'KEY', 'LEVEL']);
    expect(problems[1]).toBe('KEY: is not set');
  });

  it('does not repeat a value: it may be a secret', () => {
    expect(problemsOf({ KEY: 'short-secret' }).join()).not.toContain('short-secret');
  });

  it('takes an empty variable for one that is not set', () => {
    expect(problemsOf({ KEY: '' })).toEqual(['KEY: is not set']);
  });
});
