import { describe, expect, it } from 'vitest';
import { handResult } from './hand-result.ts';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = (value: string) => ({ type: 'text', text: value });
const image = (media_type: string, data: string) => ({ type: 'image', source: { type: 'base64', media_type, data } });

describe('the result of a hand', () => {
  it('is text and images', () => {
    const content = [text('a'), image('image/png', png), image('image/webp', 'UklGRiQAAABXRUJQVlA4')];
    expect(handResult(false, content)).toEqual({ isError: false, content });
    expect(handResult(true, [])).toEqual({ isError: true, content: [] });
    const large = [image('image/png', `iVBORw0KGgoA${'A'.repeat(4_999_984)}AA==`)];
    expect(handResult(false, large)).toEqual({ isError: false, content: large });
  });

  it.each([
    [undefined, [text('a')]],
    ['false', [text('a')]],
    [false, undefined],
    [false, null],
    [false, 'a'],
    [false, { 0: text('a'), length: 1 }],
  ])('is none where it is not whole: %j, %j', (isError, content) => {
    expect(handResult(isError, content)).toBeNull();
  });

  it.each([
    null,
    'a',
    [text('a')],
    { type: 'text' },
    { type: 'text', text: ['a'] },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a' } },
    { type: 'image', source: { type: 'url', url: 'http://169.254.169.254/' } },
    { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    { type: 'image' },
    image('image/svg+xml', png),
    image('__proto__', png),
    image('image/png', 'AAAA'),
    image('image/jpeg', png),
    image('image/png', `${png.slice(0, -4)}\n===`),
    image('image/png', `iVBORw0KGgoA${'A'.repeat(5_000_000)}`),
  ])('is an error where a part is %j', (block) => {
    const result = handResult(false, [text('a'), block]);
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text' }] });
    expect(result?.content).toHaveLength(1);
  });

  it('leaves behind what nobody asked for, however deep it is', () => {
    const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) as unknown;
    const content = [{ type: 'text', text: 'a', cache_control: deep, citations: [] }];
    expect(handResult(false, content)).toEqual({ isError: false, content: [text('a')] });
    expect(handResult(false, [deep])).toMatchObject({ isError: true });
  });

  it('drops empty texts, which a model refuses', () => {
    expect(handResult(false, [text(''), text('a')])?.content).toEqual([text('a')]);
  });

  it('mends halves of characters', () => {
    expect(handResult(false, [text('a\ud800')])?.content).toEqual([text('a\ufffd')]);
  });

  it('shows the two ends of a text that is too long, also when it comes in pieces', () => {
    const whole = Array.from({ length: 50 }, () => text('x'.repeat(2_000)));
    expect(handResult(false, whole)?.content).toEqual(whole);
    const content = [text('begin'), ...whole, image('image/png', png), text('end')];
    const result = handResult(false, content)?.content ?? [];
    expect(result).toHaveLength(2);
    const [shown] = result;
    if (shown?.type !== 'text') throw new Error('the text comes first');
    expect(shown.text).toMatch(/^\[result of 100\d{3} characters, more than can be kept; .*\]\nbegin\nxx/);
    expect(shown.text).toMatch(/x\nend$/);
    expect(shown.text.length).toBeLessThan(21_000);
  });

  it('has a number of parts', () => {
    expect(
      handResult(
        false,
        Array.from({ length: 101 }, () => text('x')),
      ),
    ).toMatchObject({ isError: true });
  });
});
