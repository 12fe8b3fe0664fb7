import { describe, expect, it } from 'vitest';
import { profileOf } from './model-profiles.ts';

describe('model profiles', () => {
  it('finds a model by its id, else by the longest prefix', () => {
    expect(profileOf('claude-opus-5').match).toBe('claude-opus-5');
    expect(profileOf('claude-opus-5-5').match).toBe('claude-opus-5-5*');
    expect(profileOf('claude-haiku-4-5-20251001').match).toBe('claude-haiku-4-5*');
    expect(profileOf('scripted-1').match).toBe('scripted-1');
  });

  it('has a careful default for any other id, without a price', () => {
    expect(profileOf('qwen3-coder')).toMatchObject({ match: '*', price: null, thinking: false, efforts: [] });
  });

  it('counts prices in millionths of a cent per token', () => {
    // 5 and 25 dollars for a million tokens.
    expect(profileOf('claude-opus-4-5').price).toMatchObject({
      input: 500,
      output: 2500,
      cacheRead: 50,
      cacheWrite5m: 625,
    });
  });

  it('knows every current family', () => {
    for (const id of [
      'claude-fable-5-2',
      'claude-fable-5-1',
      'claude-opus-5-5',
      'claude-sonnet-5-5',
      'claude-haiku-5-5',
      'claude-sonnet-4-6',
    ]) {
      const profile = profileOf(id);
      expect(profile.price, id).not.toBeNull();
      expect(profile.efforts, id).toContain(profile.defaultEffort);
      expect(profile.maxOutputTokens, id).toBeLessThan(profile.contextWindowTokens);
    }
  });
});
