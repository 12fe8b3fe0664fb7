/**
 * Platform time before the first token: from the POST of a message to its request's arrival at the model, and from the
 * model's first byte to the first preview at a stream's client. What the model thinks in between is not the platform's.
 */
import { figure, latency, type Bound, type Figure } from './figures.ts';
import { BenchPlatform } from './bench-platform.ts';
import type { Measurement } from './measurement.ts';

const goals: Bound[] = [
  { of: 'p50', atMost: 8 },
  { of: 'p99', atMost: 25 },
];
const answer = [{ text: 'Hello to you.' }];

interface Sample {
  scriptId: string;
  sentAt: number;
  firstTokenAt: number;
}

export const firstToken: Measurement = {
  name: 'first-token',
  about: 'POST → request at the model, plus first byte of the model → first preview at the client; plain HTTP client',
  async run({ isQuick }) {
    const platform = await BenchPlatform.start();
    try {
      await platform.warmUp(isQuick ? 160 : 400);
      const [sessions, turns] = isQuick ? [40, 4] : [100, 5];
      const onMany = await measure(platform, await platform.newSessions(sessions), turns);
      const onOne = await measure(platform, [await platform.newSession()], isQuick ? 100 : 300);
      return [...figuresOf('many sessions', onMany), ...figuresOf('one session', onOne)];
    } finally {
      await platform.close();
    }
  },
};

/** Turn by turn: nothing else runs meanwhile. */
async function measure(platform: BenchPlatform, sessions: readonly string[], turns: number) {
  const samples: Sample[] = [];
  for (const sessionId of sessions) {
    const listener = await platform.listen(sessionId, { previews: true });
    for (let i = 0; i < turns; i++) {
      const scriptId = crypto.randomUUID();
      const [token, idle] = [listener.nextOf('event_delta'), listener.nextOf('session.status_idle')];
      const sentAt = await platform.play(sessionId, [answer], scriptId);
      samples.push({ scriptId, sentAt, firstTokenAt: (await token).at });
      await idle;
    }
    listener.close();
  }
  return timesOf(platform, samples);
}

async function timesOf(platform: BenchPlatform, samples: readonly Sample[]) {
  const requests = await platform.model.requestsByScript();
  return samples.map(({ scriptId, sentAt, firstTokenAt }) => {
    const request = requests.get(scriptId)?.[0];
    if (!request?.answeredAt) throw new Error(`the model never saw ${scriptId}`);
    return { before: request.arrivedAt - sentAt, after: firstTokenAt - request.answeredAt };
  });
}

function figuresOf(where: string, times: readonly { before: number; after: number }[]): Figure[] {
  const both = latency(
    `platform time before the first token, ${where}`,
    times.map(({ before, after }) => before + after),
    goals,
  );
  const before = latency(
    '',
    times.map((time) => time.before),
  );
  const after = latency(
    '',
    times.map((time) => time.after),
  );
  return [
    both,
    figure(`  of it POST → model`, before.measured, before.values),
    figure(`  of it first byte → client`, after.measured, after.values),
  ];
}
