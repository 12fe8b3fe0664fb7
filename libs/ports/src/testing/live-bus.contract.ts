import type { Epoch, EventId, Seq, SessionId } from '@manyhands/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LiveBus, LiveDelta } from '../live-bus.ts';
import { patient, unhurried } from './patience.ts';

export interface LiveBusUnderTest {
  bus: LiveBus;
  close(): Promise<void>;
}

/**
 * What every live bus promises. Delivery takes its time, so tests look at what a subscriber has of each event, and wait
 * for a delta published last before they say that an earlier one never came. Sessions have random names.
 */
export function liveBusContract(name: string, open: () => Promise<LiveBusUnderTest>): void {
  describe(`live bus contract: ${name}`, unhurried, () => {
    let under: LiveBusUnderTest;
    beforeAll(async () => {
      under = await open();
    });
    afterAll(() => under.close());

    const bus = () => under.bus;
    const [one, two] = ['sevt_01one', 'sevt_01two'] as [EventId, EventId];

    it('delivers an event as it is made', async () => {
      const session = newSession();
      const seen = watch(session);
      await awake(session, seen);
      publish(session, start(one), text(one, 'Hel'), text(one, 'lo'), text(one, '!', 1), end());
      await expect.poll(() => seen.ended, patient).toBe(2);
      expect(seen.textsOf(one)).toEqual({ 0: 'Hello', 1: '!' });
    });

    it('hands a late subscriber all of an unfinished event, then what comes', async () => {
      const session = newSession();
      publish(session, start(one), text(one, 'a'), text(one, 'x', 1), text(one, 'b'));
      const seen = watch(session);
      await expect.poll(() => seen.textsOf(one), patient).toEqual({ 0: 'ab', 1: 'x' });
      publish(session, text(one, 'c'));
      await expect.poll(() => seen.textsOf(one), patient).toEqual({ 0: 'abc', 1: 'x' });
    });

    it('hands over nothing of a request that ended', async () => {
      const session = newSession();
      publish(session, start(one), text(one, 'old'), end(), start(two), text(two, 'new'));
      const seen = watch(session);
      await expect.poll(() => seen.textsOf(two), patient).toEqual({ 0: 'new' });
      expect(seen.unfinished()).toEqual([two]);
    });

    it('hands over nothing of an event whose start it never had', async () => {
      const session = newSession();
      publish(session, text(one, 'rest'), start(two), text(two, 'whole'));
      const seen = watch(session);
      await expect.poll(() => seen.textsOf(two), patient).toEqual({ 0: 'whole' });
      expect(seen.unfinished()).toEqual([two]);
    });

    it('keeps sessions apart', async () => {
      const [session, other] = [newSession(), newSession()];
      const seen = watch(session);
      publish(other, start(two), text(two, 'elsewhere'));
      publish(session, start(one), text(one, 'here'));
      await expect.poll(() => seen.textsOf(one), patient).toEqual({ 0: 'here' });
      expect(seen.unfinished()).toEqual([one]);
    });

    it('gives every subscriber the same', async () => {
      const session = newSession();
      const all = [watch(session), watch(session), watch(session)];
      publish(session, start(one), text(one, 'a'), text(one, 'b'));
      for (const seen of all) await expect.poll(() => seen.textsOf(one), patient).toEqual({ 0: 'ab' });
    });

    it('does not let a listener that throws disturb publisher or others', async () => {
      const session = newSession();
      bus().subscribe(session, () => {
        throw new Error('this listener always fails');
      });
      const seen = watch(session);
      publish(session, start(one), text(one, 'a'), text(one, 'b'));
      await expect.poll(() => seen.textsOf(one), patient).toEqual({ 0: 'ab' });
    });

    it('sends nothing to a listener that has unsubscribed', async () => {
      const session = newSession();
      const [gone, seen] = [watch(session), watch(session)];
      publish(session, start(one), text(one, 'a'));
      await expect.poll(() => gone.textsOf(one), patient).toEqual({ 0: 'a' });
      gone.unsubscribe();
      gone.unsubscribe();
      publish(session, text(one, 'b'));
      await expect.poll(() => seen.textsOf(one), patient).toEqual({ 0: 'ab' });
      expect(gone.textsOf(one)).toEqual({ 0: 'a' });
    });

    it('has no mark until one is placed', async () => {
      const session = newSession();
      expect(await bus().readGrace(session, 'key')).toBeNull();
      await bus().raiseGrace(session, 'key', seq(5));
      expect(await bus().readGrace(session, 'key')).toBeNull();
    });

    it('keeps the seq of a mark that was placed just before', async () => {
      const session = newSession();
      await bus().placeGrace(session, 'key', seq(5));
      await bus().placeGrace(session, 'key', seq(8));
      expect(await bus().readGrace(session, 'key')).toMatchObject({ seq: 5 });
    });

    it('only ever raises a mark', async () => {
      const session = newSession();
      await bus().placeGrace(session, 'key', seq(5));
      const placed = await bus().readGrace(session, 'key');
      await bus().raiseGrace(session, 'key', seq(9));
      await bus().raiseGrace(session, 'key', seq(7));
      expect(await bus().readGrace(session, 'key')).toEqual({ seq: 9, placedAt: placed?.placedAt });
    });

    it('keeps the marks of sessions and of keys apart', async () => {
      const [session, other] = [newSession(), newSession()];
      await bus().placeGrace(session, 'key', seq(5));
      expect(await bus().readGrace(session, 'other key')).toBeNull();
      expect(await bus().readGrace(other, 'key')).toBeNull();
    });

    function publish(session: SessionId, ...deltas: LiveDelta[]): void {
      for (const delta of deltas) bus().publish(session, delta);
    }

    function watch(session: SessionId): Watched {
      const watched = new Watched();
      watched.unsubscribe = bus().subscribe(session, (delta) => watched.take(delta));
      return watched;
    }

    /** Publishes until the subscription is known to work; ends one request. */
    async function awake(session: SessionId, watched: Watched): Promise<void> {
      const first = 'sevt_01first' as EventId;
      publish(session, start(first));
      await expect.poll(() => watched.unfinished(), patient).toEqual([first]);
      publish(session, end());
      await expect.poll(() => watched.ended, patient).toBe(1);
    }
  });
}

const epoch = 1 as Epoch;
const seq = (value: number) => value as Seq;
const start = (eventId: EventId): LiveDelta => ({ type: 'start', eventId, eventType: 'agent.message', epoch });
const text = (eventId: EventId, piece: string, index = 0): LiveDelta => ({
  type: 'text',
  eventId,
  index,
  text: piece,
  epoch,
});
const end = (): LiveDelta => ({ type: 'end', epoch });

function newSession(): SessionId {
  return `sesn_01${Math.random().toString(36).slice(2).padEnd(12, '0')}` as SessionId;
}

/** What a client would have put together. */
class Watched {
  unsubscribe: () => void = () => {};
  ended = 0;
  readonly #texts = new Map<EventId, Record<number, string>>();
  readonly #unfinished = new Set<EventId>();

  take(delta: LiveDelta): void {
    switch (delta.type) {
      case 'start':
        this.#texts.set(delta.eventId, {});
        this.#unfinished.add(delta.eventId);
        return;
      case 'text': {
        const texts = this.#texts.get(delta.eventId);
        // An event without its start has a gap before its first text.
        if (!texts) throw new Error(`text of ${delta.eventId} came without its start`);
        texts[delta.index] = (texts[delta.index] ?? '') + delta.text;
        return;
      }
      case 'end':
        this.#unfinished.clear();
        this.ended++;
    }
  }

  textsOf(eventId: EventId): Record<number, string> {
    return this.#texts.get(eventId) ?? {};
  }

  unfinished(): EventId[] {
    return [...this.#unfinished];
  }
}
