import { describe, expect, it } from 'vitest';
import { maxOutputBytes, OutputTail } from './output-tail.ts';

const nonce = 'mark-6fa459ea-ee8a-3ca4-894e-db77e160355e:';

function pushAll(tail: OutputTail, bytes: Buffer, chunk: number): number | null {
  for (let at = 0; at < bytes.length; at += chunk) {
    const status = tail.push(bytes.subarray(at, at + chunk));
    if (status !== null) return status;
  }
  return null;
}

describe('the tail of an output', () => {
  it.each([1, 7, 40, 1000])('finds its end in chunks of %i bytes', (chunk) => {
    const tail = new OutputTail(nonce);
    expect(pushAll(tail, Buffer.from(`some output\n${nonce}3\nlater`), chunk)).toBe(3);
    expect(tail.text()).toBe('some output');
  });

  it('keeps the last bytes of a long output, and says so', () => {
    const tail = new OutputTail(nonce);
    const long = Buffer.alloc(maxOutputBytes + 5000, 'a');
    long.write('end', long.length - 3);
    expect(pushAll(tail, Buffer.concat([long, Buffer.from(`${nonce}0\n`)]), 4096)).toBe(0);
    const text = tail.text();
    expect(text.startsWith('[output truncated]\naaa')).toBe(true);
    expect(text.endsWith('end')).toBe(true);
    expect(text.length).toBe('[output truncated]\n'.length + maxOutputBytes);
  });

  it('says nothing of truncation when it all fits to the byte', () => {
    const tail = new OutputTail(nonce);
    tail.push(Buffer.alloc(maxOutputBytes, 'a'));
    tail.push(Buffer.from(`${nonce}0\n`));
    expect(tail.text()).toBe('a'.repeat(maxOutputBytes));
  });

  it('begins with a whole character', () => {
    const tail = new OutputTail(nonce);
    tail.push(Buffer.from('€'.repeat(maxOutputBytes)));
    tail.push(Buffer.from(`${nonce}0\n`));
    expect(tail.text()).toMatch(/^\[output truncated\]\n€+$/);
  });

  it('drops terminal codes and the newlines at the end', () => {
    const tail = new OutputTail(nonce);
    tail.push(Buffer.from(`\u001b[31mred\u001b[0m\n\n\n${nonce}0\n`));
    expect(tail.text()).toBe('red');
  });
});
