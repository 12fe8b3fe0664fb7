import type { LiveDelta, Logger } from '@manyhands/ports';
import { silentLogger } from '@manyhands/ports';
import { liveBusContract } from '@manyhands/ports/testing';
import type { Epoch, EventId, Instant, Seq, SessionId } from '@manyhands/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../clock/system-clock.ts';
import { EmbeddedLiveBus } from './embedded-live-bus.ts';

liveBusContract('embedded', async () => ({
  bus: new EmbeddedLiveBus({ clock: new SystemClock() }),
  close: async () => {},
}));

describe('EmbeddedLiveBus', () => {
  const [session, other] = ['sesn_01a', 'sesn_01b'] as [SessionId, SessionId];
  const [one, two] = ['sevt_01one', 'sevt_01two'] as [EventId, EventId];
  const limits = { sessionCharacters: 100, totalCharacters: 150, ageMs: 60_000 };

  let ms: number;
  const clock = { now: () => (1_000_000 + ms) as Instant, monotonicMs: () => ms };
  let warnings: string[];
  const logger: Logger = { ...silentLogger, warn: (_, message) => warnings.push(message) };
  let bus: EmbeddedLiveBus;
  beforeEach(() => {
    ms = 0;
    warnings = [];
    bus = new EmbeddedLiveBus({ clock, logger, limits });
  });

  const start = (eventId: EventId, epoch = 1): LiveDelta => ({
    type: 'start',
    eventId,
    eventType: 'agent.message',
    epoch: epoch as Epoch,
  });
  const text = (eventId: EventId, piece: string, epoch = 1): LiveDelta => ({
    type: 'text',
    eventId,
    index: 0,
    text: piece,
    epoch: epoch as Epoch,
  });

  /** What a subscriber is sent by now. */
  async function received(of: SessionId, after: () => void = () => {}): Promise<LiveDelta[]> {
    const deltas: LiveDelta[] = [];
    const unsubscribe = bus.subscribe(of, (delta) => deltas.push(delta));
    after();
    await Promise.resolve();
    unsubscribe();
    return deltas;
  }

  it('drops deltas of an older epoch, and what is buffered of it', async () => {
    bus.publish(session, start(one, 1));
    bus.publish(session, text(one, 'old', 1));
    bus.publish(session, start(two, 2));
    const deltas = await received(session, () => {
      bus.publish(session, text(one, 'zombie', 1));
      bus.publish(session, { type: 'end', epoch: 1 as Epoch });
      bus.publish(session, text(two, 'new', 2));
    });
    expect(deltas).toEqual([start(two, 2), text(two, 'new', 2)]);
  });

  it('merges the text so far into one delta', async () => {
    for (const delta of [start(one), text(one, 'a'), text(one, 'b')]) bus.publish(session, delta);
    expect(await received(session)).toEqual([start(one), text(one, 'ab')]);
  });

  it('hands over nothing of an event that outgrew its buffer, while its follower loses nothing', async () => {
    const followed = await received(session, () => {
      bus.publish(session, start(one));
      for (let n = 0; n < 11; n++) bus.publish(session, text(one, '0123456789'));
    });
    expect(followed).toHaveLength(12);
    expect(await received(session, () => bus.publish(session, text(one, 'more')))).toEqual([]);
  });

  it('forgets the sessions touched longest ago when all are too many', async () => {
    for (const of of [session, other]) {
      bus.publish(of, start(one));
      bus.publish(of, text(one, 'x'.repeat(90)));
    }
    expect(await received(session)).toEqual([]);
    expect(await received(other)).toHaveLength(2);
  });

  it('forgets what is minutes old', async () => {
    bus.publish(session, start(one));
    ms = limits.ageMs + 1;
    expect(await received(session)).toEqual([]);
  });

  it('drops a listener from an event when too much waits for it, without a gap', async () => {
    const deltas = await received(session, () => {
      bus.publish(session, start(one));
      for (let n = 0; n < 2_000; n++) bus.publish(session, text(one, String(n)));
      bus.publish(session, { type: 'end', epoch: 1 as Epoch });
    });
    const texts = deltas.flatMap((delta) => (delta.type === 'text' ? [delta.text] : []));
    expect(texts.length).toBeLessThan(2_000);
    expect(texts).toEqual(texts.map((_, n) => String(n)));
    expect(deltas.at(-1)).toMatchObject({ type: 'end' });
  });

  it('drops a listener that throws, and says so once', async () => {
    let calls = 0;
    bus.subscribe(session, () => {
      calls++;
      throw new Error('broken');
    });
    for (const delta of [start(one), text(one, 'a')]) bus.publish(session, delta);
    await Promise.resolve();
    bus.publish(session, text(one, 'b'));
    await Promise.resolve();
    expect(calls).toBe(1);
    expect(warnings).toHaveLength(1);
  });

  it('forgets a session that is erased', async () => {
    bus.publish(session, start(one));
    await bus.placeGrace(session, 'key', 1 as Seq);
    await bus.placeGrace(other, 'key', 1 as Seq);
    bus.clear(session);
    expect(await received(session)).toEqual([]);
    expect(await bus.readGrace(session, 'key')).toBeNull();
    expect(await bus.readGrace(other, 'key')).not.toBeNull();
  });

  it('takes the higher seq for a mark of an earlier turn, and renews its time either way', async () => {
    await bus.placeGrace(session, 'key', 5 as Seq);
    ms = 2_000;
    await bus.placeGrace(session, 'key', 8 as Seq);
    expect(await bus.readGrace(session, 'key')).toEqual({ seq: 5, placedAt: 1_002_000 });
    ms = 4_001;
    await bus.placeGrace(session, 'key', 8 as Seq);
    expect(await bus.readGrace(session, 'key')).toEqual({ seq: 8, placedAt: 1_004_001 });
    ms = 7_000;
    await bus.placeGrace(session, 'key', 6 as Seq);
    expect(await bus.readGrace(session, 'key')).toEqual({ seq: 8, placedAt: 1_007_000 });
  });

  it('forgets a mark ten seconds after it was placed last', async () => {
    await bus.placeGrace(session, 'key', 5 as Seq);
    ms = 6_000;
    await bus.placeGrace(other, 'key', 5 as Seq);
    await bus.placeGrace(session, 'key', 5 as Seq);
    await bus.raiseGrace(session, 'key', 7 as Seq);
    ms = 15_999;
    expect(await bus.readGrace(session, 'key')).toMatchObject({ seq: 7 });
    ms = 16_000;
    expect(await bus.readGrace(session, 'key')).toBeNull();
    expect(await bus.readGrace(other, 'key')).toBeNull();
  });
});
