import type { LiveDelta } from '@manyhands/ports';
import type { Epoch, EventId, PreviewableEventType, SessionEvent } from '@manyhands/protocol';
import { describe, expect, it } from 'vitest';

import { PreviewGate, type Preview } from './preview-gate.ts';

const epoch = (value: number) => value as Epoch;
const id = (name: string) => `sevt_${name}` as EventId;

function start(name: string, at = 1, eventType: PreviewableEventType = 'agent.message'): LiveDelta {
  return { type: 'start', eventId: id(name), eventType, epoch: epoch(at) };
}
function text(name: string, text: string, at = 1): LiveDelta {
  return { type: 'text', eventId: id(name), index: 0, text, epoch: epoch(at) };
}
const end = (at = 1): LiveDelta => ({ type: 'end', epoch: epoch(at) });
const event = (type: SessionEvent['type'], name = 'x') => ({ type, id: id(name) }) as unknown as SessionEvent;

/** Previews in short: `+a` is a start, `a:text` a delta. */
function short(previews: Preview[]): string[] {
  return previews.map((preview) =>
    preview.type === 'event_start'
      ? `+${preview.event.id.slice(5)}`
      : `${preview.event_id.slice(5)}:${preview.delta.content.text}`,
  );
}

function gate({ wanted = ['agent.message', 'agent.thinking'] as PreviewableEventType[], caughtUp = true } = {}) {
  const inner = new PreviewGate(new Set(wanted), epoch(1));
  if (caughtUp) inner.onCaughtUp(true);
  return {
    delta: (delta: LiveDelta, hasRoom = true) => short(inner.onDelta(delta, hasRoom)),
    delivery: (delivered: SessionEvent, hasRoom = true) => short(inner.onDelivery(delivered, hasRoom)),
    caughtUp: () => short(inner.onCaughtUp(true)),
  };
}

describe('the preview gate', () => {
  it('passes a start and its text', () => {
    const { delta } = gate();
    expect([start('a'), text('a', 'Hel'), text('a', 'lo')].flatMap((one) => delta(one))).toEqual([
      '+a',
      'a:Hel',
      'a:lo',
    ]);
  });

  it('passes nothing that was not asked for', () => {
    const { delta } = gate({ wanted: ['agent.thinking'] });
    expect([start('a'), text('a', 'x'), start('t', 1, 'agent.thinking')].flatMap((one) => delta(one))).toEqual(['+t']);
  });

  it('announces an event once', () => {
    const { delta } = gate();
    expect([start('a'), start('a')].flatMap((one) => delta(one))).toEqual(['+a']);
  });

  it('passes no text without a start: the connection came too late for it', () => {
    expect(gate().delta(text('a', 'tail'))).toEqual([]);
  });

  it('says nothing about an event after the event', () => {
    const { delta, delivery } = gate();
    delta(start('a'));
    delivery(event('agent.message', 'a'));
    expect([text('a', 'late'), start('a')].flatMap((one) => delta(one))).toEqual([]);
  });

  it('drops an older epoch', () => {
    const { delta } = gate();
    expect(delta(start('b', 2))).toEqual(['+b']);
    expect([start('a', 1), text('b', 'zombie', 1)].flatMap((one) => delta(one))).toEqual([]);
  });

  it('ends the previews of the older epoch when a newer one speaks', () => {
    const { delta } = gate();
    delta(start('a', 1));
    delta(start('b', 2));
    expect(delta(text('a', 'x', 2))).toEqual([]);
  });

  it('voids what no event completed when the request ends', () => {
    const { delta } = gate();
    delta(start('a'));
    delta(end());
    expect([text('a', 'x'), start('a')].flatMap((one) => delta(one))).toEqual([]);
  });

  it('holds the next request back until its span has begun on this connection', () => {
    const { delta, delivery } = gate();
    delivery(event('span.model_request_start'));
    delivery(event('span.model_request_end'));
    expect([start('b'), text('b', 'x')].flatMap((one) => delta(one))).toEqual([]);
    expect(delivery(event('span.model_request_start'))).toEqual(['+b', 'b:x']);
    expect(delta(text('b', 'y'))).toEqual(['b:y']);
  });

  it('holds everything back until the history is through, whatever spans it has', () => {
    const { delta, delivery, caughtUp } = gate({ caughtUp: false });
    delta(start('b'));
    expect(delivery(event('span.model_request_start'))).toEqual([]);
    expect(delivery(event('span.model_request_end'))).toEqual([]);
    expect(delivery(event('span.model_request_start'))).toEqual([]);
    expect(caughtUp()).toEqual(['+b']);
  });

  it('gives up what is held when its request ends first', () => {
    const { delta, caughtUp } = gate({ caughtUp: false });
    delta(start('a'));
    delta(end());
    expect(caughtUp()).toEqual([]);
  });

  it('forgets no event that it gave up for want of room', () => {
    const { delta, caughtUp } = gate({ caughtUp: false });
    delta(start('a'));
    for (let i = 0; i < 1_000; i++) delta(text('a', 'x'));
    expect(caughtUp()).toEqual([]);
    expect(delta(text('a', 'gap'))).toEqual([]);
  });

  it('stops the previews of an event for a slow reader, and begins again with the next event', () => {
    const { delta } = gate();
    delta(start('a'));
    expect(delta(text('a', 'x'), false)).toEqual([]);
    expect(delta(text('a', 'y'))).toEqual([]);
    expect(delta(start('b'))).toEqual(['+b']);
  });

  it('announces nothing to a connection that is full', () => {
    const { delta } = gate();
    expect(delta(start('a'), false)).toEqual([]);
    expect(delta(text('a', 'x'))).toEqual([]);
  });
});
