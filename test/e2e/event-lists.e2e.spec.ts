import { BadRequestError } from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { clockTick, until } from '../support/conditions.ts';
import { Conversation, hangingTurn, listAll, message } from '../support/conversation.ts';
import { usePlatform } from '../support/platform.ts';
import type { SessionEvent } from '../support/stream-recorder.ts';

describe('the list of events, by the official client', () => {
  const platform = usePlatform();
  let conversation: Conversation;
  let history: SessionEvent[];
  const list = () => platform.client.beta.sessions.events;
  beforeAll(async () => {
    const { id } = await platform.session();
    conversation = await Conversation.open(platform.client, id);
    for (const word of ['one', 'two', 'three']) {
      await conversation.play([[{ tool: 'bash', input: { command: `echo ${word}` } }], [{ text: word }]]);
      await clockTick();
    }
    history = await conversation.history();
    return () => conversation.stopRecording();
  });

  it.each([1, 2, 7, 44, 45, 46, 1000])('is the same in pages of %i', async (limit) => {
    expect(await listAll(platform.client, conversation.id, limit)).toEqual(history);
  });

  it('can be read from its end', async () => {
    const backwards: SessionEvent[] = [];
    for await (const event of list().list(conversation.id, { order: 'desc', limit: 4 })) backwards.push(event);
    expect(backwards.reverse()).toEqual(history);
  });

  it('is filtered by type', async () => {
    const types = ['agent.message', 'agent.tool_use'] as const;
    const filtered: SessionEvent[] = [];
    for await (const event of list().list(conversation.id, { types: [...types], limit: 2 })) filtered.push(event);
    expect(filtered).toEqual(history.filter(({ type }) => type === types[0] || type === types[1]));
    expect((await list().list(conversation.id, { types: ['session.error'] })).data).toEqual([]);
  });

  it('is filtered by time', async () => {
    const at = history[20]?.processed_at as string;
    const times = history.map((event) => Date.parse(event.processed_at as string));
    const filtered = async (params: object) => (await list().list(conversation.id, params)).data;
    const cut = Date.parse(at);
    expect(await filtered({ 'created_at[gt]': at })).toEqual(history.filter((_, n) => (times[n] as number) > cut));
    expect(await filtered({ 'created_at[gte]': at })).toEqual(history.filter((_, n) => (times[n] as number) >= cut));
    expect(await filtered({ 'created_at[lt]': at })).toEqual(history.filter((_, n) => (times[n] as number) < cut));
    expect(await filtered({ 'created_at[lte]': at, order: 'desc' })).toEqual(
      history.filter((_, n) => (times[n] as number) <= cut).reverse(),
    );
  });

  it('refuses a type that does not exist, a time that is none, and a cursor of another order', async () => {
    const { next_page: page } = await list().list(conversation.id, { limit: 3 });
    const refused = [
      { types: ['agent.dance' as never] },
      { 'created_at[gt]': 'yesterday' },
      { page: page as string, order: 'desc' as const },
      { page: 'bm9uZQ' },
    ];
    for (const params of refused) {
      await expect(list().list(conversation.id, params)).rejects.toBeInstanceOf(BadRequestError);
    }
  });

  it('has neither gaps nor repeats for a reader who pages while events are appended', async () => {
    const busy = await platform.session();
    const turns = Array.from({ length: 12 }, (_, n) => [{ tool: 'bash', input: { command: `echo ${n}` } }]);
    await busy.start([...turns, [{ text: 'Done.' }]]);
    const read: SessionEvent[] = [];
    let page: string | null = null;
    let isIdle = false;
    for (;;) {
      const got: { data: SessionEvent[]; next_page: string | null } = await list().list(busy.id, {
        limit: 3,
        ...(page && { page }),
      });
      read.push(...got.data.filter((event) => event.processed_at != null));
      if (got.next_page) page = got.next_page;
      else if (isIdle) break;
      else {
        // The last page has no cursor to go on from: start over from where a full page ended.
        isIdle = (await busy.session()).status === 'idle';
        read.length -= got.data.filter((event) => event.processed_at != null).length;
      }
    }
    expect(read).toEqual(await busy.history());
  });

  it('shows messages that wait at its end, without a time', async () => {
    const busy = await platform.session();
    await busy.start([hangingTurn('Slow.')]);
    await busy.stream.findType('span.model_request_start');
    const [sent] = await busy.send(message('Later.'));
    expect(sent).toMatchObject({ processed_at: null });
    const waiting = await busy.history();
    expect(waiting.at(-1)).toEqual(sent);
    await busy.send({ type: 'user.interrupt' });
    await until('the message to be answered', async () => (await busy.answers()).length === 1);
    await until('the session to be idle', async () => (await busy.session()).status === 'idle');
    expect((await busy.history()).filter((event) => event.id === sent?.id)).toHaveLength(1);
  });
});
