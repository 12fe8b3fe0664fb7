import type { Seq, SessionEvent } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';

import { errorFrame, eventFrame, parseEventId, previewFrame } from './sse-frames.ts';

const cursor = { seq: 12 as Seq, n: 1 };

function message(text: string): SessionEvent {
  return {
    type: 'agent.message',
    id: 'sevt_1',
    processed_at: '2026-01-01T00:00:00Z',
    content: [{ type: 'text', text }],
  };
}

describe('a frame', () => {
  it('of an event has a name, its position and one line of JSON', () => {
    const [name, id, data, ...rest] = eventFrame({ cursor, event: message('hi') }).split('\n');
    expect([name, id]).toEqual(['event: agent.message', 'id: 12.1']);
    expect(JSON.parse(data?.slice('data: '.length) ?? '')).toEqual(message('hi'));
    expect(rest).toEqual(['', '']);
  });

  it('stays one line whatever the text holds, by every idea of a line', () => {
    const text = 'a\nb\r\nc\u2028d\u2029e\u0085f';
    const frame = eventFrame({ cursor, event: message(text) });
    expect(frame.split(/\r\n|[\n\r\u0085\u2028\u2029]/)).toHaveLength(5);
    expect(JSON.parse(frame.split('data: ')[1] ?? '')).toEqual(message(text));
  });

  it('of a preview or an error carries no position', () => {
    const start = previewFrame({ type: 'event_start', event: { type: 'agent.message', id: 'sevt_1' } });
    expect(start).toMatch(/^event: event_start\ndata: .*\n\n$/);
    const error = errorFrame({ type: 'error', error: { type: 'api_error', message: 'broken' }, request_id: 'req_1' });
    expect(error).toMatch(/^event: error\ndata: .*\n\n$/);
  });
});

describe('the id of a message', () => {
  it('is read back as a position', () => {
    expect(parseEventId('12.1')).toEqual(cursor);
  });

  it.each(['', '12', '12.', '.1', '-1.0', '1.0.0', '1e3.0', '9'.repeat(16) + '.0', 'sevt_1'])('is none: %j', (text) => {
    expect(parseEventId(text)).toBeNull();
  });
});
