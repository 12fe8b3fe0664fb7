import { ConfigError } from '@manyhands/platform';
import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';

describe('the settings', () => {
  it('have sensible defaults', () => {
    expect(readConfig([], {})).toMatchObject({
      port: 8787,
      host: '127.0.0.1',
      apiKey: null,
      model: null,
      drainMs: 25_000,
      takeover: { giveUpAt: 6, secondWaitMs: 5_000, laterWaitMs: 30_000 },
      egressAllow: [],
      unsafeNoIsolation: false,
      demoOnly: false,
    });
  });

  it('take a model only with a key', () => {
    expect(readConfig([], { ANTHROPIC_BASE_URL: 'http://localhost:1' })?.model).toBeNull();
    const given = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://localhost:1' };
    expect(readConfig([], given)?.model).toEqual({ apiKey: 'k', baseUrl: 'http://localhost:1' });
  });

  it('are refused all at once, and their values are not repeated', () => {
    const bad = {
      PORT: 'eighty',
      MANYHANDS_API_KEY: 'short',
      ANTHROPIC_BASE_URL: 'ftp://x',
      MANYHANDS_LOG_LEVEL: 'loud',
    };
    const refused = (): unknown => readConfig([], bad);
    expect(refused).toThrow(ConfigError);
    for (const name of Object.keys(bad)) expect(refused).toThrow(name);
    expect(refused).not.toThrow('eighty');
  });

  it('are split at commas where they are lists', () => {
    expect(readConfig([], { MANYHANDS_EGRESS_ALLOW: '127.0.0.1:80, 10.0.0.0/8,' })?.egressAllow).toEqual([
      '127.0.0.1:80',
      '10.0.0.0/8',
    ]);
  });

  it('know flags, give help, and refuse what they do not know', () => {
    expect(readConfig(['--demo', '--unsafe-no-isolation'], {})).toMatchObject({
      demoOnly: true,
      unsafeNoIsolation: true,
    });
    expect(readConfig(['--help'], { PORT: 'nonsense' })).toBeNull();
    expect(() => readConfig(['--hlep'], {})).toThrow(ConfigError);
  });
});
