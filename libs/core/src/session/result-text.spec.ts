import { describe, expect, it } from 'vitest';
import { resultText } from './result-text.ts';

describe('resultText', () => {
  it("has the wire's own words for an interrupt", () => {
    expect(resultText('interrupted')).toBe('Tool execution was interrupted before completion. Please retry.');
  });

  it('says what the user said when the call was denied', () => {
    expect(resultText('denied_by_user', 'not on Fridays')).toContain('not on Fridays');
    expect(resultText('denied_by_user', null)).toBe(resultText('denied_by_user', ''));
  });
});
