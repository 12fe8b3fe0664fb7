import { describe, expect, it } from 'vitest';
import { grantClockSkewMs, grantRefusal, grantText, parseGrantText, type HandGrant } from './hand-grant.ts';

const grant: HandGrant = { session: 'sesn_a', hand: 'main', generation: 3, epoch: 7, exp: 1_000_000 };

describe('a grant', () => {
  it('reads back what it states, whatever the order of the fields was', () => {
    const { exp, ...rest } = grant;
    expect(parseGrantText(grantText(grant))).toEqual(grant);
    expect(grantText({ exp, ...rest })).toBe(grantText(grant));
  });

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"session":"sesn_a"}',
    grantText({ ...grant, epoch: -1 }),
    grantText({ ...grant, exp: 0.5 }),
  ])('is not in %s', (text) => {
    expect(parseGrantText(text)).toBeNull();
  });

  it('admits to the life it names until it has expired, give or take the clocks', () => {
    expect(grantRefusal(grant, grant, grant.exp)).toBeNull();
    expect(grantRefusal(grant, grant, grant.exp + grantClockSkewMs)).toBeNull();
    expect(grantRefusal(grant, grant, grant.exp + grantClockSkewMs + 1)).toBe('expired');
  });

  it('tells another hand from another life of the same', () => {
    expect(grantRefusal(grant, { ...grant, session: 'sesn_b' }, 0)).toBe('other-hand');
    expect(grantRefusal(grant, { ...grant, hand: 'second' }, 0)).toBe('other-hand');
    expect(grantRefusal(grant, { ...grant, generation: 4 }, 0)).toBe('other-life');
  });
});
