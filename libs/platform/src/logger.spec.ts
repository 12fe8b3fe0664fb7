import { describe, expect, it } from 'vitest';

import { createLogger, type LogLevel } from './logger.ts';

function logged(level: LogLevel = 'debug') {
  const lines: string[] = [];
  const logger = createLogger({ service: 'api', level, destination: { write: (line) => void lines.push(line) } });
  return { logger, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('the logger', () => {
  it('writes one JSON object per statement, with level, time and service', () => {
    const { logger, entries } = logged();
    logger.info({ sessionId: 'sesn_1' }, 'woken');
    expect(entries()).toEqual([
      { level: 'info', time: expect.any(String) as string, service: 'api', sessionId: 'sesn_1', msg: 'woken' },
    ]);
  });

  it('leaves out what lies below its level', () => {
    const { logger, entries } = logged('warn');
    logger.info({}, 'no');
    logger.warn({}, 'yes');
    expect(entries().map((entry) => entry['msg'])).toEqual(['yes']);
  });

  it('writes of an error name, message, code, stack and cause, and no other property', () => {
    const { logger, entries } = logged();
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', headers: { 'x-api-key': 'canary' } });
    logger.error({ error: new Error('away', { cause }) }, 'failed');
    expect(entries()[0]?.['error']).toMatchObject({
      name: 'Error',
      message: 'away',
      cause: { message: 'refused', code: 'ECONNREFUSED' },
    });
    expect(JSON.stringify(entries())).not.toContain('canary');
  });

  it('survives an error that is its own cause', () => {
    const { logger, entries } = logged();
    const error = new Error('ring');
    error.cause = error;
    logger.error({ error }, 'failed');
    expect(entries()).toHaveLength(1);
  });
});
