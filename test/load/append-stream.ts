/**
 * From the POST of an event to the event at a stream's client. It holds all of the append (request, decision, fsync, fold)
 * and the delivery. An interrupt of an idle session is one record that nothing follows.
 */
import { BenchPlatform } from './bench-platform.ts';
import { latency } from './figures.ts';
import type { Measurement } from './measurement.ts';

export const appendToStream: Measurement = {
  name: 'append-stream',
  about: 'POST of an event sent → the event at a client of its stream; plain HTTP client',
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    try {
      await platform.warmUp(100);
      const sessionId = await platform.newSession();
      const listener = await platform.listen(sessionId);
      const samples: number[] = [];
      for (let i = 0; i < (isQuick ? 300 : 1_500); i++) {
        const arrived = listener.nextOf('user.interrupt');
        const sentAt = await platform.sendEvent(sessionId, { type: 'user.interrupt' });
        samples.push((await arrived).at - sentAt);
      }
      listener.close();
      return [latency('append → event at a stream', samples.slice(50), [{ of: 'p50', atMost: 10 }])];
    } finally {
      await platform.close();
    }
  },
};
