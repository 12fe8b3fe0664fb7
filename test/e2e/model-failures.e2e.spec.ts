import type { ScriptFault } from '@manyhands/adapter-scripted-model';
import { describe, expect, it } from 'vitest';
import { hangingTurn } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';

describe('failures of the model', () => {
  const platform = usePlatform({ env: { MANYHANDS_MODEL_SILENCE_MS: '400' } });

  const overloaded = (times: number): ScriptFault => ({ kind: 'status', status: 529, retryAfterMs: 1, times });

  it.each<[string, ScriptFault, string]>([
    ['an overloaded model', overloaded(1), 'model_overloaded_error'],
    ['a rate limit', { kind: 'status', status: 429, retryAfterMs: 1 }, 'model_rate_limited_error'],
    ['an error of the server', { kind: 'status', status: 500 }, 'model_request_failed_error'],
    ['a connection that is cut', { kind: 'cut', afterEvents: 3 }, 'model_request_failed_error'],
    ['an answer without an end', { kind: 'end', afterEvents: 4 }, 'model_request_failed_error'],
    [
      'an error within the stream',
      { kind: 'error', afterEvents: 2, errorType: 'overloaded_error' },
      'model_overloaded_error',
    ],
    ['a silence', { kind: 'silence', afterEvents: 3 }, 'model_request_failed_error'],
  ])('are waited out: %s', async (_, fault, errorType) => {
    const conversation = await platform.session();
    const idle = await conversation.play([{ blocks: [{ text: 'After all.' }], faults: [fault] }]);
    expect(idle.stop_reason.type).toBe('end_turn');
    expect(await conversation.answers()).toEqual(['After all.']);
    const history = await conversation.history();
    const at = history.findIndex(({ type }) => type === 'session.error');
    expect(history.slice(at - 2, at + 6).map(({ type }) => type)).toEqual([
      'span.model_request_start',
      'span.model_request_end',
      'session.error',
      'session.thread_status_rescheduled',
      'session.status_rescheduled',
      'session.status_running',
      'session.thread_status_running',
      'span.model_request_start',
    ]);
    expect(history[at]).toMatchObject({ error: { type: errorType, retry_status: { type: 'retrying' } } });
    expect(history[at - 1]).toMatchObject({ is_error: true });
  });

  it('are waited out again and again', async () => {
    const conversation = await platform.session();
    const idle = await conversation.play([{ blocks: [{ text: 'At last.' }], faults: [overloaded(4)] }]);
    expect(idle.stop_reason.type).toBe('end_turn');
    expect(await conversation.ofType('session.status_rescheduled')).toHaveLength(4);
  });

  it('end the turn when they do not end; the next message starts anew', async () => {
    const conversation = await platform.session();
    const idle = await conversation.play([{ blocks: [{ text: 'Never.' }], faults: [overloaded(8)] }]);
    expect(idle.stop_reason.type).toBe('retries_exhausted');
    const last = (await conversation.ofType('session.error')).at(-1);
    expect(last?.error).toMatchObject({ type: 'model_overloaded_error', retry_status: { type: 'exhausted' } });
    expect((await conversation.session()).status).toBe('idle');
    const next = await conversation.play([[{ text: 'Better.' }]]);
    expect(next.stop_reason.type).toBe('end_turn');
  });

  it('that no retry heals end the turn at once', async () => {
    const conversation = await platform.session();
    const refused: ScriptFault = { kind: 'status', status: 400, message: 'This prompt is wrong.' };
    const idle = await conversation.play([{ blocks: [{ text: 'Never.' }], faults: [refused] }]);
    expect(idle.stop_reason.type).toBe('retries_exhausted');
    expect(await conversation.ofType('session.status_rescheduled')).toEqual([]);
    expect(await conversation.ofType('session.error')).toMatchObject([
      { error: { type: 'model_request_failed_error' } },
    ]);
  });

  it('drop what waited when a turn is given up, and keep it in the history', async () => {
    const conversation = await platform.session();
    const faults: ScriptFault[] = [
      { kind: 'silence', afterEvents: 1 },
      { kind: 'status', status: 400 },
    ];
    await conversation.start([{ blocks: [{ text: 'Never.' }], faults }], 'given-up');
    await conversation.stream.findType('session.status_rescheduled');
    await conversation.say('Waiting.');
    const idle = await conversation.stream.findType('session.status_idle');
    expect(idle.stop_reason.type).toBe('retries_exhausted');
    expect(await conversation.ofType('user.message')).toHaveLength(2);
    expect((await conversation.session()).status).toBe('idle');
    expect(platform.model.requests.requests('given-up')).toHaveLength(2);
  });

  it('do not keep an interrupt waiting', async () => {
    const conversation = await platform.session();
    const slow: ScriptFault = { kind: 'status', status: 529, retryAfterMs: 600_000, times: 9 };
    await conversation.start([{ blocks: [{ text: 'Never.' }], faults: [slow] }]);
    await conversation.stream.findType('session.status_rescheduled');
    expect((await conversation.session()).status).toBe('rescheduling');
    const idle = await conversation.untilIdle(() => conversation.send({ type: 'user.interrupt' }));
    expect(idle.stop_reason.type).toBe('end_turn');
  });

  it('of one session leave the others alone', async () => {
    const [broken, well] = [await platform.session(), await platform.session()];
    await broken.start([hangingTurn('Late.')]);
    await broken.stream.findType('span.model_request_start');
    expect((await well.play([[{ text: 'Quick.' }]])).stop_reason.type).toBe('end_turn');
    const idle = await broken.stream.findType('session.status_idle');
    expect(idle.stop_reason.type).toBe('end_turn');
  });
});
