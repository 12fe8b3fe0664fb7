import { describe, expect, it } from 'vitest';
import { journaledExecution, parseJournalLine, type HandJournalLine } from './hand-journal.ts';

const started = (id: string): string => line({ kind: 'started', id, name: 'bash', at: 1 });
const finished = (id: string, text: string): string =>
  line({ kind: 'finished', id, at: 2, isError: false, content: [{ type: 'text', text }] });

describe('a journal', () => {
  it('knows nothing of an id it does not hold', () => {
    expect(journaledExecution([], 'a')).toEqual({ state: 'unknown' });
    expect(journaledExecution([started('b'), finished('b', 'about a')], 'a')).toEqual({ state: 'unknown' });
  });

  it('leaves the end of a started execution open', () => {
    expect(journaledExecution([started('a'), started('b'), finished('b', '')], 'a')).toEqual({ state: 'running' });
  });

  it('tells the result, also of what was never started', () => {
    const result = { state: 'finished', isError: false, content: [{ type: 'text', text: 'x' }] };
    expect(journaledExecution([started('a'), finished('a', 'x')], 'a')).toEqual(result);
    expect(journaledExecution([finished('a', 'x')], 'a')).toEqual(result);
  });

  it('believes the first result', () => {
    const lines = [started('a'), finished('a', 'x'), finished('a', 'forged')];
    expect(journaledExecution(lines, 'a')).toMatchObject({ content: [{ text: 'x' }] });
  });

  it('passes over torn and foreign lines', () => {
    const torn = finished('a', 'x').slice(0, -5);
    expect(journaledExecution([started('a'), torn, '{"id":"a"}', '"a"', 'a'], 'a')).toEqual({ state: 'running' });
  });

  it.each([
    { kind: 'finished', id: 'a', at: 1, isError: false, content: [{ type: 'document' }] },
    { kind: 'finished', id: 'a', at: 1, isError: false, content: 'x' },
    { kind: 'finished', id: 'a', at: 1, isError: 'no', content: [] },
    { kind: 'started', id: 'a', at: 1 },
    { kind: 'other', id: 'a', at: 1 },
  ])('takes %j for no line of its own', (value) => {
    expect(parseJournalLine(JSON.stringify(value))).toBeNull();
  });
});

function line(value: HandJournalLine): string {
  return JSON.stringify(value);
}
